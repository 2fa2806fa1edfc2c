import module from "node:module";

/** The options of `durable-payments worker`. */
export const OPTIONS = {
  help: { type: "boolean", short: "h" },
  json: { type: "boolean" },
} as const;

const help = (
  name: string,
): string => `Runs the payment workflows and activities until SIGTERM or SIGINT.

Usage: ${name} [--json] [--help]

  --json   print one JSON line on standard output once the worker polls

Environment: PAYMENTS_BASE_URL, PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY for the payment service;
TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY and TEMPORAL_TLS_* for Temporal.
docs/settings.md lists all settings: the ledger, limits, task queue, webhook, health, log.
`;

/**
 * Runs a worker until SIGTERM or SIGINT; sets the exit code of the process.
 *
 * @param args the words after the name
 * @param name the command as it was called, for its help
 */
export const run = async (args: ReadonlyArray<string>, name: string): Promise<void> => {
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(help(name));
    return;
  }
  // From the second start on, the workflow threads use the cached compilation as well.
  const compiled = module.getCompileCacheDir();
  if (compiled !== undefined) process.env["NODE_COMPILE_CACHE"] ??= compiled;
  // Temporal's SDK has native code, which the help does not need.
  const { main } = await import("./cli.ts");
  await main(args);
};
