import { BreakingProxy } from "@durable-payments/tools/breaking-proxy";
import { startPostgres } from "@durable-payments/tools/postgres";
import { Effect, Semaphore } from "effect";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { delay } from "../delay.ts";

/** The PostgreSQL server of the ledger, with a standby, behind a proxy that is slow and breaks. */
export type LedgerServer = Awaited<ReturnType<typeof startLedgerServer>>;

const TERMINATE =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";

/**
 * Starts the ledger's server with its data in a folder.
 *
 * @throws Error if PostgreSQL cannot run here
 */
export const startLedgerServer = async (folder: string) => {
  const primary = await startPostgres(folder);
  const other = join(folder, "standby");
  await mkdir(other);
  const standby = await primary.standby(other);
  const proxy = await BreakingProxy.start(primary.port);
  let current = primary;
  // One thing at a time happens to the servers.
  const turn = Semaphore.makeUnsafe(1);
  const next = <A>(act: () => Promise<A>): Promise<A> =>
    Effect.runPromise(turn.withPermit(Effect.promise(act)));
  return {
    /** As `PAYMENTS_LEDGER` names it: by way of the proxy. */
    address: proxy.through(primary.address("postgres")),
    proxy,
    /** Ends every connection of a worker or a tool, as an administrator does. */
    terminateBackends: () => next(() => current.sql("postgres", TERMINATE)),
    /** Ends the server at once, and starts it again after this time. */
    restart: (downMs: number) =>
      next(async () => {
        await current.stop();
        await delay(downMs);
        await current.start();
      }),
    /**
     * Ends the server, and promotes the standby.
     *
     * @param lostMs how long the standby had not followed: the commits of that time are lost; 0 for none.
     * @returns when the server was ended, in milliseconds since 1970.
     */
    failOver: (lostMs: number) =>
      next(async () => {
        if (lostMs > 0) await standby.stop();
        await delay(lostMs);
        // A server that ends in order hands over all that it has committed, which a synchronous standby always has.
        await primary.stop(lostMs > 0 ? "immediate" : "fast");
        const endedAt = Date.now();
        if (lostMs > 0) await standby.start();
        await standby.promote();
        current = standby;
        proxy.serverPort = standby.port;
        return endedAt;
      }),
    end: async () => {
      await proxy.stop();
      // One of them has ended, if there was a failover.
      await Promise.allSettled([primary, standby].map(({ stop }) => stop()));
    },
  };
};
