import { BreakingProxy } from "@durable-payments/tools/breaking-proxy";
import { startPostgres } from "@durable-payments/tools/postgres";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { delay } from "../delay.ts";

/** The PostgreSQL server of the ledger, with a standby, behind a proxy that is slow and breaks. */
export interface LedgerServer {
  /** As `PAYMENTS_LEDGER` names it: by way of the proxy. */
  readonly address: string;
  readonly proxy: BreakingProxy;
  /** Ends every connection of a worker or a tool, as an administrator does. */
  readonly terminateBackends: () => Promise<void>;
  /** Ends the server at once, and starts it again after this time. */
  readonly restart: (downMs: number) => Promise<void>;
  /**
   * Promotes the standby, and ends the server before.
   *
   * @param lostMs how long the standby had not followed: the commits of that time are lost; 0 for none.
   * @returns when the server was ended, in milliseconds since 1970.
   */
  readonly failOver: (lostMs: number) => Promise<number>;
  readonly end: () => Promise<void>;
}

const TERMINATE =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";

/**
 * Starts the ledger's server with its data in a folder.
 *
 * @throws Error if PostgreSQL cannot run here
 */
export const startLedgerServer = async (folder: string): Promise<LedgerServer> => {
  const primary = await startPostgres(folder);
  const other = join(folder, "standby");
  await mkdir(other);
  const standby = await primary.standby(other);
  const proxy = await BreakingProxy.start(primary.port);
  const up = new Set([primary, standby]);
  const stop = async (server: typeof primary, mode?: "fast" | "immediate"): Promise<void> => {
    if (up.delete(server)) await server.stop(mode);
  };
  const start = async (server: typeof primary): Promise<void> => {
    await server.start();
    up.add(server);
  };
  let current = primary;
  // One thing at a time happens to the servers.
  let last: Promise<unknown> = Promise.resolve();
  const next = <A>(act: () => Promise<A>): Promise<A> => {
    const done = last.then(act);
    last = done.catch(() => undefined);
    return done;
  };
  return {
    address: proxy.through(primary.address("postgres")),
    proxy,
    terminateBackends: () => next(async () => void (await current.sql("postgres", TERMINATE))),
    restart: (downMs) =>
      next(async () => {
        await stop(current);
        await delay(downMs);
        await start(current);
      }),
    failOver: (lostMs) =>
      next(async () => {
        if (lostMs > 0) await stop(standby);
        await delay(lostMs);
        // A server that ends in order hands over all that it has committed, which a synchronous standby always has.
        await stop(primary, lostMs > 0 ? "immediate" : "fast");
        const endedAt = Date.now();
        if (lostMs > 0) await start(standby);
        await standby.promote();
        current = standby;
        proxy.serverPort = standby.port;
        return endedAt;
      }),
    end: async () => {
      await proxy.stop();
      await Promise.all([...up].map((server) => stop(server)));
    },
  };
};
