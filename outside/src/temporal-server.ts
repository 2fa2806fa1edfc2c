import type { Reporter } from "@durable-payments/tools/command";
import { spawnProcess } from "@durable-payments/tools/processes";
import {
  awaitTemporalServer,
  choosePort,
  temporalServerArguments,
} from "@durable-payments/tools/stack";

/**
 * Runs a Temporal dev server while something uses it.
 *
 * @param path of Temporal's command line.
 * @param use is given the server's address.
 */
export const withTemporalServer = async (
  path: string,
  report: Reporter,
  use: (address: string) => Promise<void>,
): Promise<void> => {
  const port = await choosePort({ option: "the Temporal server" }, report);
  const uiPort = await choosePort({ option: "the Web UI" }, report);
  const server = spawnProcess(path, temporalServerArguments(port, uiPort), { ownGroup: true });
  const address = `127.0.0.1:${port}`;
  try {
    await awaitTemporalServer(server, address);
    await use(address);
  } finally {
    await server.kill();
  }
};
