import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDatabase, DATABASE_USER, whyNoPostgres } from "@durable-payments/tools/cluster";
import { spawnProcess } from "@durable-payments/tools/processes";

/** A PostgreSQL server for a ledger. */
export interface Postgres {
  /** What `PAYMENTS_LEDGER` is set to. */
  readonly ledger: string;
  readonly stop: () => Promise<void>;
}

/** Starts PostgreSQL with an empty database; undefined where it is not installed. */
export const startPostgres = async (
  progress: (text: string) => void,
): Promise<Postgres | undefined> => {
  const missing = whyNoPostgres();
  if (missing !== undefined) {
    progress(`without PostgreSQL: ${missing}`);
    return undefined;
  }
  const folder = await mkdtemp(join(tmpdir(), "bench-postgres-"));
  const { password, port, process: server } = await createDatabase(folder);
  const { args, command, killedBy, name, options, ready } = server;
  const started = spawnProcess(command, args, { name, ownGroup: true, ...options });
  const stop = async () => {
    await started.kill(killedBy);
    await rm(folder, { recursive: true });
  };
  try {
    await ready(started);
  } catch (error) {
    await stop();
    throw error;
  }
  return { ledger: `postgres://${DATABASE_USER}:${password}@127.0.0.1:${port}/postgres`, stop };
};
