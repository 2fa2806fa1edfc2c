import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { orEnd } from "../processes/await-ready.ts";
import { chooseLowPort } from "./low-port.ts";
import { findPostgres } from "./find-postgres.ts";
import { type ClusterProcess, ENOUGH_MS, repeatedly } from "./cluster-process.ts";

/** The user of the database; it owns everything in it. */
export const DATABASE_USER = "temporal";

/** A PostgreSQL server with its data in one folder, on a free port of this machine. */
export interface Database {
  readonly process: ClusterProcess;
  readonly port: number;
  readonly password: string;
  /** Write a base backup while it runs; false where it was stopped meanwhile. */
  readonly backUp: () => Promise<boolean>;
  /** Put the base backup in the place of the data; it must not run. */
  readonly putBack: () => Promise<void>;
}

/** The connections of two frontends and two histories, with some to spare. */
const MOST_CONNECTIONS = 300;

/**
 * Make a database in a folder, which other users may pass through where this process is root's.
 *
 * Commits wait for the disk, as PostgreSQL does by itself: a commit that is lost with the machine is a
 * payment that Temporal has forgotten.
 */
export const createDatabase = async (folder: string): Promise<Database> => {
  const { bin, user } = findPostgres();
  const home = join(folder, "postgres");
  const data = join(home, "data");
  const backup = join(home, "backup");
  const passwordFile = join(home, "password");
  const password = randomBytes(24).toString("base64url");
  const port = await chooseLowPort();

  await mkdir(home, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (user !== undefined) {
    await chmod(folder, 0o711);
    for (const path of [home, passwordFile]) await chown(path, user.uid, user.gid);
  }
  const as = { ...user, cwd: home, stdin: "ignore" } as const;
  const initdb = ["-D", data, "-U", DATABASE_USER, "-A", "scram-sha-256", "--pwfile", passwordFile];
  await execa(join(bin, "initdb"), initdb, as);

  const to = ["-h", "127.0.0.1", "-p", `${port}`];
  return {
    port,
    password,
    process: {
      name: "postgres",
      command: join(bin, "postgres"),
      args: ["-D", data, ...to, "-k", home, "-c", `max_connections=${MOST_CONNECTIONS}`],
      options: { cwd: home, ...(user !== undefined && { user }) },
      // SIGQUIT is its immediate shutdown; after SIGKILL what it has shared stays behind.
      killedBy: "SIGQUIT",
      ready: async (started) => {
        const isReady = async () =>
          !(await execa(join(bin, "pg_isready"), to, { reject: false })).failed;
        await repeatedly(isReady, (ready) => orEnd(started, ready, ENOUGH_MS));
      },
    },
    backUp: async () => {
      await rm(backup, { recursive: true, force: true });
      const args = ["-D", backup, ...to, "-U", DATABASE_USER, "-w", "-X", "stream", "-c", "fast"];
      const env = { PGPASSWORD: password };
      return !(await execa(join(bin, "pg_basebackup"), args, { ...as, env, reject: false })).failed;
    },
    putBack: async () => {
      await rm(data, { recursive: true });
      await rename(backup, data);
    },
  };
};
