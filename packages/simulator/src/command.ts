import { messageOf, visibleLines } from "@durable-payments/client/values";
import manifest from "../package.json" with { type: "json" };
import { help, readCommandLine } from "./command-line.ts";
import { startSimulator } from "./start-simulator.ts";

export { OPTIONS } from "./command-line.ts";

const isUsage = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && String(cause.code).startsWith("ERR_PARSE_ARGS");

/** Returns in one line why the simulator could not start. */
const explain = (cause: unknown): string => {
  const reason = cause instanceof Error ? (cause.cause ?? cause) : cause;
  return reason instanceof Error && "code" in reason && reason.code === "EADDRINUSE"
    ? `${reason.message}. Stop the program that listens there, or choose another port with --port (0: any free port).`
    : messageOf(cause);
};

const start = async (args: ReadonlyArray<string>, name: string): Promise<string> => {
  const { options, values } = readCommandLine(args);
  if (values.help === true) return help(name);
  if (values.version === true) return manifest.version;
  const { apiKey, clientId, stop, url } = await startSimulator(options);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());
  return values.json === true
    ? JSON.stringify({ url, clientId, apiKey })
    : `The simulated payment service listens on ${url}

  export PAYMENTS_BASE_URL=${url} PAYMENTS_CLIENT_ID=${clientId} PAYMENTS_API_KEY=${apiKey}

Its ledger is at ${url}/_simulator/state. Stop it with Ctrl-C.`;
};

/**
 * Runs a simulator until SIGTERM or SIGINT; sets the exit code of the process.
 *
 * @param args the words after the name
 * @param name the command as it was called, for its help
 */
export const run = async (args: ReadonlyArray<string>, name: string): Promise<void> => {
  try {
    console.log(await start(args, name));
  } catch (cause) {
    // To stderr alone: stdout may be read by a program.
    console.error(`${visibleLines(explain(cause))}\n${name} --help shows the flags.`);
    process.exitCode = isUsage(cause) ? 2 : 1;
  }
};
