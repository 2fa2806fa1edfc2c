import { messageOf, visibleText } from "@durable-payments/api-core/values";
import { CannotStart } from "@durable-payments/plugin";
import { errorText, logLine } from "@durable-payments/plugin/internal";
import { parseArgs } from "node:util";
import { runWorker } from "./run-worker.ts";

const HELP = `Runs the payment workflows and activities until SIGTERM or SIGINT.

Usage: npm run worker -- [--json] [--help]

  --json   print one JSON line on standard output once the worker polls

Environment:
  TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS_*, TEMPORAL_PROFILE,
  TEMPORAL_CONFIG_FILE   how to reach Temporal (default localhost:7233, namespace default)
  TEMPORAL_API_KEY_FILE  file with Temporal's API key, reloaded when it changes
  PAYMENTS_SETTINGS      JSON file of all settings; the variables override it (docs/settings.md)
  PAYMENTS_BASE_URL, PAYMENTS_CLIENT_ID   the payment service (required)
  PAYMENTS_API_KEY, PAYMENTS_API_KEY_FILE   its API key, or a file with it (required)
  PAYMENTS_LEDGER        the ledger: sqlite:FILE or postgres://…
  PAYMENTS_MAX_AMOUNTS   largest amount of one payout or card: {"USD": "10000.00"}
  PAYMENTS_APPROVE_ABOVE  amounts above which a second person must approve
  PAYMENTS_TASK_QUEUE    task queue (default payments); other queues are named after it
  PAYMENTS_NOTIFY_URL, PAYMENTS_NOTIFY_SECRET   webhook for runs that need a person or fail
  PAYMENTS_DEPLOYMENT_NAME, PAYMENTS_BUILD_ID   version of the worker, for rollouts
  PAYMENTS_HEALTH_ADDRESS   port or HOST:PORT of /livez, /readyz and /metrics
  PAYMENTS_LOG_LEVEL     TRACE, DEBUG, INFO, WARN or ERROR (default WARN)
  PAYMENTS_LOG_FORMAT    json or text (default text)
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
