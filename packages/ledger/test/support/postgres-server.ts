import { findPostgres } from "@durable-payments/tools/postgres";
import { execFileSync, spawn } from "node:child_process";
import { chmod, chown, copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });

export const PASSWORD = "password-that-nobody-may-see";

/** A PostgreSQL server of a test. */
export interface PostgresServer {
  /** The address of a database, with user and password. */
  readonly address: (database: string) => string;
  /** Runs SQL in a database. */
  readonly query: (
    database: string,
    sql: string,
  ) => Promise<ReadonlyArray<Record<string, unknown>>>;
  /** Stops the server, all connections broken, and starts it again. */
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/**
 * Starts a server with a temporary database on a free port.
 *
 * @param tls files of a certificate and its key, where every connection must be by TLS
 */
export const startPostgres = async (tls?: {
  readonly certificate: string;
  readonly key: string;
}): Promise<PostgresServer> => {
  const { bin, user } = findPostgres();
  const folder = await mkdtemp(join(tmpdir(), "ledger-postgres-"));
  const data = join(folder, "data");
  const passwords = join(folder, "password");
  await writeFile(passwords, PASSWORD);
  if (user !== undefined) {
    await chown(folder, user.uid, user.gid);
    await chown(passwords, user.uid, user.gid);
  }
  const as = { ...user, cwd: folder, stdio: "pipe" } as const;
  const initdb = ["-D", data, "-U", "tester", "-A", "scram-sha-256", "--pwfile", passwords, "-N"];
  execFileSync(join(bin, "initdb"), initdb, as);
  const tlsArguments: Array<string> = [];
  if (tls !== undefined) {
    // It reads only files that its user owns.
    const own = async (file: string, name: string): Promise<string> => {
      const copy = join(data, name);
      await copyFile(file, copy);
      await chmod(copy, 0o600);
      if (user !== undefined) await chown(copy, user.uid, user.gid);
      return copy;
    };
    const certificate = await own(tls.certificate, "server.crt");
    const key = await own(tls.key, "server.key");
    tlsArguments.push("-c", "ssl=on", "-c", `ssl_cert_file=${certificate}`);
    tlsArguments.push("-c", `ssl_key_file=${key}`);
    await writeFile(join(data, "pg_hba.conf"), "hostssl all all 127.0.0.1/32 scram-sha-256\n");
  }
  const port = await freePort();

  const address = (database: string) =>
    `postgres://tester:${PASSWORD}@127.0.0.1:${port}/${database}`;
  const query = async (database: string, sql: string) => {
    const client = new Client({
      connectionString: address(database),
      ...(tls !== undefined && { ssl: { rejectUnauthorized: false } }),
    });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  };
  const run = async () => {
    const server = spawn(
      join(bin, "postgres"),
      ["-D", data, "-p", String(port), "-h", "127.0.0.1", "-k", folder, ...tlsArguments],
      { ...user, cwd: folder, stdio: "ignore" },
    );
    const ended = new Promise<void>((resolve) => {
      server.once("exit", () => resolve());
    });
    for (let attempt = 0; ; attempt++) {
      try {
        await query("postgres", "SELECT 1");
        return { server, ended };
      } catch (error) {
        if (attempt > 100 || server.exitCode !== null) throw error;
        await sleep(100);
      }
    }
  };
  let running = await run();
  const end = async () => {
    // Fast shutdown: connections are broken.
    running.server.kill("SIGINT");
    await running.ended;
  };
  return {
    address,
    query,
    restart: async () => {
      await end();
      running = await run();
    },
    stop: async () => {
      await end();
      await rm(folder, { recursive: true });
    },
  };
};
