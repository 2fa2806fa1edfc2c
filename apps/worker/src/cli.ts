import { messageOf, visibleText } from "@durable-payments/client/values";
import { CannotStart } from "@durable-payments/plugin";
import { errorText, logLine } from "@durable-payments/plugin/internal";
import { parseArgs } from "node:util";
import { OPTIONS } from "./command.ts";
import { runWorker } from "./run-worker.ts";

/** The last message of the process; in the format of the log if that is JSON. */
const fail = (message: string, code: number): void => {
  const line =
    process.env["PAYMENTS_LOG_FORMAT"] === "json"
      ? logLine({ level: "ERROR", message: `worker: ${message}`, timestampNanos: now() }, "json")
      : `worker: ${visibleText(message)}`;
  process.stderr.write(`${line}\n`);
  process.exitCode = code;
};

const now = (): bigint => BigInt(Date.now()) * 1_000_000n;

const unexpected = (error: unknown): void => fail(errorText(error).replaceAll(/\s*\n\s*/g, " "), 1);

const work = async (args: ReadonlyArray<string>): Promise<void> => {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  await runWorker((polling) => {
    process.stdout.write(
      values.json
        ? `${JSON.stringify({ ready: true, ...polling })}\n`
        : `The worker polls task queue ${polling.taskQueue}, and those named after it, in namespace ${polling.namespace}. Ctrl-C drains it.\nThe ledger is ${polling.ledger}.\n`,
    );
  });
};

/** Runs the worker of this process, and reports why it could not start; sets the exit code. */
export const main = async (args: ReadonlyArray<string>): Promise<void> => {
  process.on("uncaughtException", (error) => {
    unexpected(error);
    process.exit();
  });
  try {
    await work(args);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (error instanceof CannotStart) fail(error.message, 1);
    else if (code.startsWith("ERR_PARSE_ARGS")) fail(`${messageOf(error)} (--help)`, 2);
    else unexpected(error);
  }
};
