import type { Reporter } from "../command/progress.ts";
import { ensureServer } from "./ensure-server.ts";
import { ServerNotFound } from "./locate-server.ts";
import type { Server } from "./server.ts";
import { temporalCli, testServer } from "./temporal-servers.ts";

/** What set-up found: a path and where from, or the problem. */
export interface ServerReport {
  readonly title: string;
  readonly path?: string;
  /** The environment variable, "PATH", "cache", or how it was installed just now. */
  readonly from?: string;
  readonly problem?: string;
}

/** Both Temporal servers of this machine. */
export interface ServersReport {
  readonly temporalCli: ServerReport;
  readonly testServer: ServerReport;
}

/** Find or install both servers; one that cannot be installed is reported, not thrown. */
export const setUpServers = async (report: Reporter): Promise<ServersReport> => ({
  temporalCli: await describe(temporalCli, report),
  testServer: await describe(testServer, report),
});

const describe = async (server: Server, report: Reporter): Promise<ServerReport> => {
  try {
    return { title: server.title, ...(await ensureServer(server, report)) };
  } catch (error) {
    if (error instanceof ServerNotFound) return { title: server.title, problem: error.message };
    throw error;
  }
};
