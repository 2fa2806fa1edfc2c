import type { ParseArgsOptionsConfig } from "node:util";

/** A subcommand that runs until a signal, and reads its own options. */
interface Server {
  readonly OPTIONS: ParseArgsOptionsConfig;
  readonly run: (args: ReadonlyArray<string>, name: string) => Promise<void>;
}

/** The servers: a worker loads nothing of the command line, and the command line nothing of a worker. */
export const SERVERS: Readonly<
  Record<string, { readonly short: string; readonly load: () => Promise<Server> }>
> = {
  worker: {
    short: "Run the payment workflows and activities",
    load: () => import("@durable-payments/worker/command"),
  },
  simulator: {
    short: "Simulate the payment service, for tests and experiments",
    load: () => import("@durable-payments/simulator/command"),
  },
  "codec-server": {
    short: "Decode payloads for Temporal's Web UI and command line",
    load: () => import("@durable-payments/codec/command"),
  },
};

/** Finds the server that a command line names as its first word; undefined if it names none. */
export const serverIn = (args: ReadonlyArray<string>) => {
  const at = args.findIndex((word) => !word.startsWith("-"));
  const name = args[at] ?? "";
  const server = Object.hasOwn(SERVERS, name) ? SERVERS[name] : undefined;
  return server && { name, load: server.load, rest: args.toSpliced(at, 1) };
};
