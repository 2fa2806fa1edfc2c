import { randomInt } from "node:crypto";
import getPort from "get-port";

const LOWEST = 10_000;

/** Temporal keeps the ports of its cluster's members as smallint in PostgreSQL. */
const HIGHEST = 32_767;

const CANDIDATES = 100;

/** Choose a free port of this machine that fits into a smallint, and is none that the system hands out by itself. */
export const chooseLowPort = async (): Promise<number> => {
  const candidates = Array.from({ length: CANDIDATES }, () => randomInt(LOWEST, HIGHEST + 1));
  const port = await getPort({ host: "127.0.0.1", reserve: true, port: candidates });
  if (port <= HIGHEST) return port;
  throw new Error(`No free port from ${LOWEST} to ${HIGHEST} was found.`);
};
