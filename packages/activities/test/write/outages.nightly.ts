import { openLedger, readLedgerPlace } from "@durable-payments/ledger";
import { findPostgres, whyNoPostgres } from "@durable-payments/tools/postgres";
import { execFileSync } from "node:child_process";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { describeOutages } from "../support/outages.ts";

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

describe.skipIf(whyNoPostgres() !== undefined)("over a ledger in PostgreSQL", () => {
  let folder: string;
  let port: number;
  let count = 0;
  const run = (program: string, args: ReadonlyArray<string>): void => {
    const { bin, user } = findPostgres();
    execFileSync(join(bin, program), args, { ...user, cwd: folder, stdio: "ignore" });
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "activities-postgres-"));
    const { user } = findPostgres();
    if (user !== undefined) await chown(folder, user.uid, user.gid);
    port = await freePort();
    const data = join(folder, "data");
    run("initdb", ["-D", data, "-U", "tester", "-A", "trust", "-N"]);
    const options = `-p ${port} -h 127.0.0.1 -k ${folder}`;
    run("pg_ctl", ["-D", data, "-w", "-l", join(folder, "log"), "-o", options, "start"]);
  });
  afterAll(async () => {
    run("pg_ctl", ["-D", join(folder, "data"), "-w", "-m", "fast", "stop"]);
    await rm(folder, { recursive: true });
  });

  // Each has a database of its own, which keeps its own time: after a 503 that would have to pass.
  describeOutages(async () => {
    const database = `outage_${++count}`;
    run("createdb", ["-h", "127.0.0.1", "-p", String(port), "-U", "tester", database]);
    const address = `postgres://tester@127.0.0.1:${port}/${database}`;
    return openLedger(readLedgerPlace(address, ""));
  }, ["refused"]);
});
