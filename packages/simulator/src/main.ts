#!/usr/bin/env node
import { messageOf, visibleLines } from "@durable-payments/client/values";
import { basename } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { help, readCommandLine } from "./command-line.ts";
import { startSimulator } from "./start-simulator.ts";

/** The executable of the published package; in a checkout, npm run simulator. */
const NAME =
  basename(process.argv[1] ?? "") === "payments-simulator" ? "payments-simulator" : "simulator";

/** Returns in one line why the simulator could not start. */
const explain = (cause: unknown): string => {
  const reason = cause instanceof Error ? (cause.cause ?? cause) : cause;
  return reason instanceof Error && "code" in reason && reason.code === "EADDRINUSE"
    ? `${reason.message}. Stop the program that listens there, or choose another port with --port (0: any free port).`
    : messageOf(cause);
};

const run = async (): Promise<string> => {
  const asked = readCommandLine(process.argv.slice(2));
  if (asked.show === "help") return help(NAME);
  if (asked.show === "version") return manifest.version;
  const { apiKey, clientId, stop, url } = await startSimulator(asked.options);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());
  return asked.show === "JSON"
    ? JSON.stringify({ url, clientId, apiKey })
    : `The simulated payment service listens on ${url}

  export PAYMENTS_BASE_URL=${url} PAYMENTS_CLIENT_ID=${clientId} PAYMENTS_API_KEY=${apiKey}

Its ledger is at ${url}/_simulator/state. Stop it with Ctrl-C.`;
};

try {
  console.log(await run());
} catch (cause) {
  // To stderr alone: stdout may be read by a program.
  console.error(`${visibleLines(explain(cause))}\n${NAME} --help shows the flags.`);
  process.exitCode = 1;
}
