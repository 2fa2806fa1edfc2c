import { setTimeout as sleep } from "node:timers/promises";
import { Connection } from "@temporalio/client";
import { orEnd } from "../processes/await-ready.ts";
import type { StartedProcess } from "../processes/spawn-process.ts";

const readyWithinMs = 30_000;
const askEveryMs = 100;

/** The arguments of the Temporal CLI that start the dev server, in memory, with its Web UI. */
export const temporalServerArguments = (port: number, uiPort: number): string[] => [
  "server",
  "start-dev",
  "--ip",
  "127.0.0.1",
  "--port",
  `${port}`,
  "--ui-port",
  `${uiPort}`,
];

/**
 * Wait until the server answers for its namespace.
 *
 * @throws ProcessNotReady when it ends before, or takes longer than 30 seconds
 */
export const awaitTemporalServer = async (
  server: StartedProcess,
  address: string,
): Promise<void> => {
  const connection = Connection.lazy({ address });
  const over = new AbortController();
  const asking = awaitNamespace(connection, over.signal);
  try {
    await orEnd(server, asking, readyWithinMs);
  } finally {
    over.abort();
    // A call that is tried again after the connection was closed would end this process.
    await asking;
    await connection.close();
  }
};

const awaitNamespace = async (connection: Connection, over: AbortSignal): Promise<void> => {
  while (!over.aborted) {
    try {
      await connection.withDeadline(
        Date.now() + 1000,
        async () => await connection.workflowService.describeNamespace({ namespace: "default" }),
      );
      return;
    } catch {
      // Not listening yet; what keeps it from listening ends the process, and is reported then.
    }
    await sleep(askEveryMs);
  }
};
