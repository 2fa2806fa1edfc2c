import { messageOf, visibleText } from "@durable-payments/client/values";
import { CannotStart } from "@durable-payments/plugin";
import { errorText, logLine } from "@durable-payments/plugin/internal";
import { parseArgs } from "node:util";
import { runWorker } from "./run-worker.ts";

const HELP = `Runs the payment workflows and activities until SIGTERM or SIGINT.

Usage: npm run worker -- [--json] [--help]

  --json   print one JSON line on standard output once the worker polls

Environment: PAYMENTS_BASE_URL, PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY for the payment service;
TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY and TEMPORAL_TLS_* for Temporal.
docs/settings.md lists all settings: the ledger, limits, task queue, webhook, health, log.
`;

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

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: { help: { type: "boolean", short: "h" }, json: { type: "boolean" } },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  await runWorker((polling) => {
    process.stdout.write(
      values.json
        ? `${JSON.stringify({ ready: true, ...polling })}\n`
        : `The worker polls task queue ${polling.taskQueue}, and those named after it, in namespace ${polling.namespace}. Ctrl-C drains it.\nThe ledger is ${polling.ledger}.\n`,
    );
  });
};

process.on("uncaughtException", (error) => {
  unexpected(error);
  process.exit();
});

try {
  await main();
} catch (error) {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (error instanceof CannotStart) fail(error.message, 1);
  else if (code.startsWith("ERR_PARSE_ARGS")) fail(`${messageOf(error)} (--help)`, 2);
  else unexpected(error);
}
