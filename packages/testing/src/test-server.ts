import { messageOf } from "@durable-payments/api-core/values";
import { type ServerKind, startTestEnvironment } from "@durable-payments/protocol/test-server";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { type TestClock, testClockOf } from "./test-clock.ts";

export type { ServerKind } from "@durable-payments/protocol/test-server";

/** A Temporal server that runs for tests. Any number of {@link PaymentsTest} can use it, one after the other. */
export interface TestServer {
  /** The SDK's own environment, for what is not here. */
  readonly environment: TestWorkflowEnvironment;
  readonly clock: TestClock;
  /**
   * Puts a new server in its place, as a test does that leaves runs open: their activities would keep the time of a server
   * that skips waiting for all tests to come.
   *
   * @throws CannotStartServer, as everything here does from then on.
   */
  readonly renew: () => Promise<void>;
  /** Stops the server. */
  readonly dispose: () => Promise<void>;
}

/** The server could not be started; the message says what to do. */
export class CannotStartServer extends Error {
  override readonly name = "CannotStartServer";
}

const SERVERS = {
  "time-skipping": { variable: "TEMPORAL_TEST_SERVER_PATH", title: "time-skipping test server" },
  dev: { variable: "TEMPORAL_CLI_PATH", title: "dev server (Temporal CLI)" },
} as const;

const whatToDo = (kind: ServerKind): string => {
  const { variable } = SERVERS[kind];
  const path = process.env[variable];
  if (path) {
    return `It was started from ${path} (${variable}): let that name an executable of the server, or unset it.`;
  }
  const download = `Temporal's SDK downloads it once from temporal.download and keeps it in the folder for temporary files: let this machine reach that address, or set ${variable} to an executable of it.`;
  if (kind === "dev") return download;
  return process.arch === "x64"
    ? `${download} Or use the real one, which needs no Java: server: "dev".`
    : `There is none for ${process.arch}: use the real one, server: "dev", and settle payouts by simulator.setPayoutStatus or a short settleAfter.`;
};

const start = async (kind: ServerKind): Promise<Pick<TestServer, "clock" | "environment">> => {
  const path = process.env[SERVERS[kind].variable];
  const options = path ? { server: { executable: { type: "existing-path", path } as const } } : {};
  const environment = await startTestEnvironment(kind, options).catch((error: unknown) => {
    throw new CannotStartServer(
      `The ${SERVERS[kind].title} of Temporal cannot be started: ${messageOf(error)}. ${whatToDo(kind)}`,
      { cause: error },
    );
  });
  return { environment, clock: testClockOf(environment) };
};

/**
 * Start a Temporal server in memory on a free port; start one for all
 * tests of a file, and give it to each {@link createPaymentsTest}.
 *
 * @param kind which server; default `time-skipping`.
 * @returns the server; stop it by `dispose`.
 * @throws CannotStartServer where it is missing, or does not start; the message says what to do.
 * @example
 * ```ts
 * const server = await startTestServer();
 * after(() => server.dispose());
 * ```
 */
export const startTestServer = async (kind: ServerKind = "time-skipping"): Promise<TestServer> => {
  if (!Object.hasOwn(SERVERS, kind)) {
    throw new CannotStartServer(
      `There is no server ${kind}: give ${Object.keys(SERVERS).join(" or ")}, or what startTestServer returned.`,
    );
  }
  let started = await start(kind);
  let notRenewed: CannotStartServer | undefined;
  /** Of the one that ended every call would say that its channel has been shut down, and not why. */
  const running = () => {
    if (notRenewed !== undefined) throw notRenewed;
    return started;
  };
  return {
    get environment() {
      return running().environment;
    },
    get clock() {
      return running().clock;
    },
    renew: async () => {
      try {
        await running().environment.teardown();
        started = await start(kind);
      } catch (error) {
        notRenewed ??= new CannotStartServer(
          `A test has left runs open, and a new server could not take the place of the one that has them. ${messageOf(error)}`,
          { cause: error },
        );
        throw notRenewed;
      }
    },
    dispose: async () => {
      if (notRenewed === undefined) await started.environment.teardown();
    },
  };
};
