import { registerNamespaceAttributes } from "@durable-payments/activities/namespace-attributes";
import { messageOf } from "@durable-payments/api-core/values";
import { searchAttributes } from "@durable-payments/protocol";
import { IllegalStateError } from "@temporalio/common";
import { TestWorkflowEnvironment } from "@temporalio/testing";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import { type TestClock, testClockOf } from "./test-clock.ts";
import { makeRunsVisible } from "./visibility/visible-runs.ts";

/**
 * Which Temporal server runs the tests: `time-skipping` lets days pass in no time; `dev` is a real one, which keeps real
 * time.
 */
export type ServerKind = "time-skipping" | "dev";

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

/** What goes wrong in a workflow shows in its run: of the SDK only errors are printed. */
const quietRuntime = (): void => {
  try {
    Runtime.install({
      logger: new DefaultLogger("ERROR"),
      // The core prints its warnings by itself where they are not forwarded.
      telemetryOptions: { logging: { forward: {} } },
    });
  } catch (error) {
    // The test has a runtime of its own.
    if (!(error instanceof IllegalStateError)) throw error;
  }
};

const create = (kind: ServerKind): Promise<TestWorkflowEnvironment> => {
  const path = process.env[SERVERS[kind].variable];
  const server = path ? { executable: { type: "existing-path", path } as const } : {};
  return kind === "dev"
    ? TestWorkflowEnvironment.createLocal({
        server: {
          ...server,
          extraArgs: searchAttributes.flatMap(({ name, type }) => [
            "--search-attribute",
            `${name}=${type === "KEYWORD_LIST" ? "KeywordList" : "Keyword"}`,
          ]),
        },
      })
    : TestWorkflowEnvironment.createTimeSkipping({ server });
};

const MOST_TRIES = 3;

/** The SDK gives a server 5 seconds to start; on a busy machine that is not always enough. */
const createPatiently = async (kind: ServerKind): Promise<TestWorkflowEnvironment> => {
  for (let tries = 1; ; tries++) {
    try {
      return await create(kind);
    } catch (error) {
      if (tries === MOST_TRIES || !String(error).includes("did not start within")) throw error;
    }
  }
};

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
  const environment = await createPatiently(kind).catch((error: unknown) => {
    throw new CannotStartServer(
      `The ${SERVERS[kind].title} of Temporal cannot be started: ${messageOf(error)}. ${whatToDo(kind)}`,
      { cause: error },
    );
  });
  if (environment.supportsTimeSkipping) {
    const { operatorService } = environment.connection;
    await registerNamespaceAttributes(operatorService, "default", searchAttributes);
    makeRunsVisible(environment);
  }
  return { environment, clock: testClockOf(environment) };
};

/**
 * Start a Temporal server in memory on a free port, with the search attributes of payment workflows. Start one for all
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
  quietRuntime();
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
