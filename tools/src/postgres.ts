/*
 * Starts PostgreSQL for tests, from the programs that this machine has.
 *
 * PostgreSQL refuses to run as root, as which many containers run: then it runs as the user that its package has made.
 */
import { messageOf } from "@durable-payments/client/values";
import { execa } from "execa";
import getPort from "get-port";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, globSync, realpathSync } from "node:fs";
import { chmod, chown, mkdir, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";

const HOST = "127.0.0.1";
const USER = "tester";
const DEBIAN = "/usr/lib/postgresql/*/bin";

/** The folder of PostgreSQL's programs, or undefined if they are not installed. */
const programs = (): string | undefined => {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), ...globSync(DEBIAN)];
  const initdb = folders.map((folder) => join(folder, "initdb")).find(existsSync);
  // The PATH may have links to some of them only.
  return initdb === undefined ? undefined : dirname(realpathSync(initdb));
};

/** PostgreSQL refuses to run as root: then it runs as the user that its package has made. */
const postgresUser = (): { readonly uid: number; readonly gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { stdio: "pipe" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
};

/**
 * Finds PostgreSQL's programs, and the user they run as: undefined for the user of this process.
 *
 * @throws Error if PostgreSQL cannot run here
 */
export const findPostgres = () => {
  const bin = programs();
  if (bin === undefined)
    throw new Error("PostgreSQL is not installed (apt-get install postgresql)");
  try {
    return { bin, user: postgresUser() };
  } catch {
    throw new Error("PostgreSQL does not run as root, and there is no user postgres");
  }
};

/** Returns why PostgreSQL cannot run here, or undefined if it can. */
export const whyNoPostgres = (): string | undefined => {
  try {
    findPostgres();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
};

/** A PostgreSQL server with its data in one folder, on a free port of this machine. */
export interface Postgres {
  readonly port: number;
  /** The user that owns everything in it. */
  readonly user: string;
  readonly password: string;
  /** Returns the address of a database, with user and password. */
  readonly address: (database: string) => string;
  /** Runs SQL in a database by psql. Returns its output, without headers. */
  readonly sql: (database: string, text: string) => Promise<string>;
  /** Stops it, all connections broken, and starts it again on the same port. */
  readonly restart: () => Promise<void>;
  /** Starts a hot standby of it with its data in another folder. It is read-only until `promote`. */
  readonly standby: (folder: string) => Promise<Postgres>;
  /** Makes a standby the primary. */
  readonly promote: () => Promise<void>;
  readonly start: () => Promise<void>;
  /** Ends it: at once, with nothing put in order, or `fast`: its standbys then have all that it has. */
  readonly stop: (mode?: "fast" | "immediate") => Promise<void>;
}

/** The connections of two frontends and two histories, with some to spare. */
const MOST_CONNECTIONS = 300;

/**
 * Starts PostgreSQL with its data in a folder, which other users may pass through if this process is root's.
 *
 * Commits wait for the disk, as they do by default: a commit that is lost with the machine is a payment that Temporal
 * has forgotten.
 *
 * @throws Error if PostgreSQL cannot run here
 */
export const startPostgres = (folder: string): Promise<Postgres> =>
  start(folder, randomBytes(24).toString("base64url"), (run, passwordFile) => {
    const options = `-E UTF8 --no-locale -A scram-sha-256 -U ${USER} --pwfile`.split(" ");
    return run("initdb", ...options, passwordFile);
  });

type Run = (program: string, ...args: ReadonlyArray<string>) => PromiseLike<unknown>;

/** @param makeData makes the folder of its data. */
const start = async (
  folder: string,
  password: string,
  makeData: (run: Run, passwordFile: string) => PromiseLike<unknown>,
): Promise<Postgres> => {
  const { bin, user } = findPostgres();
  const home = join(folder, "postgres");
  const passwordFile = join(home, "password");
  const port = await getPort({ host: HOST, reserve: true });

  await mkdir(home, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (user !== undefined) {
    await chmod(folder, 0o711);
    for (const path of [home, passwordFile]) await chown(path, user.uid, user.gid);
  }
  const run: Run = (program, ...args) =>
    execa(join(bin, program), ["-D", join(home, "data"), ...args], {
      ...user,
      cwd: home,
      // The server keeps what pg_ctl has open.
      stdio: "ignore",
    });
  const address = (database: string) =>
    `postgres://${USER}:${password}@${HOST}:${port}/${database}`;
  await makeData(run, passwordFile);
  const options = `-h ${HOST} -p ${port} -k ${home} -c max_connections=${MOST_CONNECTIONS}`;
  const control = async (...args: ReadonlyArray<string>) =>
    void (await run("pg_ctl", ...args, "-w", "-l", join(home, "log")));
  const begin = () => control("start", "-o", options);
  await begin();
  return {
    port,
    user: USER,
    password,
    address,
    sql: async (database, text) => {
      const args = ["-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text, address(database)];
      return (await execa(join(bin, "psql"), args)).stdout;
    },
    restart: () => control("restart", "-m", "fast"),
    standby: (other) =>
      start(other, password, (copy) =>
        copy("pg_basebackup", "-R", "-X", "stream", "-c", "fast", "-d", address("postgres")),
      ),
    promote: () => control("promote"),
    start: begin,
    stop: (mode = "immediate") => control("stop", "-m", mode),
  };
};
