import { locate, ServerNotFound } from "../servers/locate-server.ts";
import { clusterServer } from "../servers/temporal-servers.ts";
import { whyNoPostgres } from "./find-postgres.ts";

/** Why no cluster can be started here without building anything, or undefined where it can. */
export const whyNoCluster = (): string | undefined => {
  const missing = whyNoPostgres();
  if (missing !== undefined) return missing;
  if (locate(clusterServer) !== undefined) return undefined;
  return `${clusterServer.title} ${clusterServer.version} is not built here (npm run chaos -- --server postgres builds it)`;
};

/**
 * Find Temporal's server where it is built.
 *
 * @throws ServerNotFound where it is not: see {@link whyNoCluster}
 */
export const executableOfCluster = (): string => {
  const located = locate(clusterServer);
  if (located === undefined) throw new ServerNotFound(whyNoCluster());
  return located.path;
};
