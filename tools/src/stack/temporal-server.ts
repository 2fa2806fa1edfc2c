import { setTimeout as sleep } from "node:timers/promises";
import { searchAttributes } from "@durable-payments/protocol";
import { Connection } from "@temporalio/client";
import { orEnd } from "../processes/await-ready.ts";
import type { StartedProcess } from "../processes/spawn-process.ts";

const readyWithinMs = 30_000;
const askEveryMs = 100;

const TYPES = { KEYWORD: "Keyword", KEYWORD_LIST: "KeywordList" } as const;

/** The arguments of `temporal server start-dev` that register the search attributes of the workflows. */
export const searchAttributeArguments = (): string[] =>
  searchAttributes.flatMap(({ name, type }) => ["--search-attribute", `${name}=${TYPES[type]}`]);

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
  ...searchAttributeArguments(),
];

/**
 * Wait until the server answers and knows the search attributes.
 *
 * @throws ProcessNotReady when it ends before, or takes longer than 30 seconds
 */
export const awaitTemporalServer = async (
  server: StartedProcess,
  address: string,
): Promise<void> => {
  const connection = Connection.lazy({ address });
  const over = new AbortController();
  const asking = awaitSearchAttributes(connection, over.signal);
  try {
    await orEnd(server, asking, readyWithinMs);
  } finally {
    over.abort();
    // A call that is tried again after the connection was closed would end this process.
    await asking;
    await connection.close();
  }
};

const awaitSearchAttributes = async (connection: Connection, over: AbortSignal): Promise<void> => {
  while (!over.aborted) {
    try {
      const { customAttributes } = await connection.withDeadline(
        Date.now() + 1000,
        async () => await connection.operatorService.listSearchAttributes({ namespace: "default" }),
      );
      if (searchAttributes.every(({ name }) => name in customAttributes)) return;
    } catch {
      // Not listening yet; what keeps it from listening ends the process, and is reported then.
    }
    await sleep(askEveryMs);
  }
};
