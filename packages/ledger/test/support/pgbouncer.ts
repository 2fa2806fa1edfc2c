import { findPostgres } from "@durable-payments/tools/postgres";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { temporaryFolder, type TestServer } from "./postgres.ts";

const program = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"]
  .map((folder) => join(folder, "pgbouncer"))
  .find(existsSync);

export const whyNoPgBouncer = (): string | undefined =>
  program === undefined ? "PgBouncer is not installed (apt-get install pgbouncer)" : undefined;

const freePort = async (): Promise<number> => {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  await once(listener.close(), "close");
  return typeof address === "object" && address !== null ? address.port : 0;
};

/** Starts PgBouncer in session mode in front of a server, with nothing else set. */
export const startPgBouncer = async (server: TestServer) => {
  const folder = await temporaryFolder();
  const port = await freePort();
  const settings = join(folder, "pgbouncer.ini");
  await writeFile(
    settings,
    `[databases]
* = host=127.0.0.1 port=${server.port} user=${server.user} password=${server.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
auth_type = any
pool_mode = session
unix_socket_dir =
`,
    { mode: 0o644 },
  );
  // It refuses to run as root, as PostgreSQL does; it reads its settings before it changes the user.
  const { user } = findPostgres();
  const running = spawn(
    program ?? "",
    ["-q", ...(user === undefined ? [] : ["-u", "postgres"]), settings],
    {
      stdio: "ignore",
    },
  );
  const exited = once(running, "exit");
  const address = (database: string) => `postgres://any:any@127.0.0.1:${port}/${database}`;
  const answers = async (): Promise<boolean> => {
    const client = new Client(address("postgres"));
    try {
      await client.connect();
      await client.end();
      return true;
    } catch {
      return false;
    }
  };
  while (!(await answers())) {
    if (running.exitCode !== null) throw new Error(`PgBouncer ended with ${running.exitCode}`);
    await sleep(50);
  }
  return {
    address,
    stop: async () => {
      running.kill("SIGKILL");
      await exited;
      await rm(folder, { recursive: true });
    },
  };
};
