import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { locate, ServerNotFound } from "../servers/locate-server.ts";
import { temporalCli } from "../servers/temporal-servers.ts";

/**
 * Runs a command of Temporal's command line, as the docs show it.
 *
 * @param line the command, `temporal` first; arguments without spaces in them
 * @returns its standard output
 * @throws the error of `execFile` when it ends with another code than 0
 */
export const runTemporalCli = async (line: string, address: string): Promise<string> => {
  const located = locate(temporalCli);
  if (located === undefined) throw new ServerNotFound(`${temporalCli.title} is not set up.`);
  const [command, ...args] = line.split(/\s+/);
  if (command !== temporalCli.command) throw new Error(`not a command of Temporal: ${line}`);
  const { stdout } = await promisify(execFile)(located.path, [...args, "--address", address]);
  return stdout;
};
