import { type Postgres, startPostgres } from "@durable-payments/tools/postgres";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";

/** Starts PostgreSQL for the tests of a `describe`. It is stopped, and its folder removed, after them. */
export const postgresOfTests = (): (() => Postgres) => {
  let folder: string;
  let server: Postgres;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "activities-postgres-"));
    server = await startPostgres(folder);
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });
  return () => server;
};
