import getPort from "get-port";
import type { Reporter } from "../command/progress.ts";
import { BadOption } from "../command/run-command.ts";

/** A port that the user asked for is taken. */
class PortTaken extends Error {
  override readonly name = "PortTaken";
}

/** A port as an option of a command, and what the command does when none is given. */
export interface PortWish {
  /** The option as the user writes it, for the error. */
  readonly option: string;
  /** What the user asked for. */
  readonly wanted?: number;
  /** Tried first when the user asked for nothing. */
  readonly preferred?: number;
}

const host = "127.0.0.1";

/**
 * The port that was asked for, else the preferred one if it is free, else any free one.
 *
 * @throws PortTaken when the port that was asked for is in use
 */
export const choosePort = async (
  { option, wanted, preferred }: PortWish,
  report: Reporter,
): Promise<number> => {
  const first = wanted ?? preferred;
  const port = await getPort({ host, reserve: true, ...(first !== undefined && { port: first }) });
  if (first === undefined || port === first) return port;
  if (wanted === undefined) {
    report.line(
      `Port ${first} is in use on this machine; taking ${port} (${option} names another).`,
    );
    return port;
  }
  throw new PortTaken(
    `Port ${wanted} (${option}) is in use on this machine: end what uses it, name another port, or leave ${option} out.`,
  );
};

/**
 * Reads a port from the command line.
 *
 * @throws BadOption naming the option when it is no port
 */
export const parsePort = (option: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new BadOption(`${option} must be a port, a whole number from 1 to 65535; got "${text}".`);
};
