import { execa } from "execa";
import getPort from "get-port";
import { execFileSync } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { chmod, chown, mkdir, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { type ProcessOptions, type StartedProcess, untilReady } from "./processes.ts";

const DEBIAN = "/usr/lib/postgresql";

/** The folder of PostgreSQL's programs, or undefined if they are not installed. */
const programs = (): string | undefined => {
  const installed = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const initdb = [
    ...(process.env["PATH"] ?? "").split(delimiter),
    ...installed.map((version) => join(DEBIAN, version, "bin")),
  ]
    .map((folder) => join(folder, "initdb"))
    .find(existsSync);
  // The PATH may have links to some of them only.
  return initdb === undefined ? undefined : dirname(realpathSync(initdb));
};

/** PostgreSQL refuses to run as root: then it runs as the user that its package has made. */
const postgresUser = (): { readonly uid: number; readonly gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { stdio: "pipe" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
};

/** Returns why PostgreSQL cannot run here, or undefined if it can. */
export const whyNoPostgres = (): string | undefined => {
  if (programs() === undefined) return "PostgreSQL is not installed (apt-get install postgresql)";
  try {
    postgresUser();
    return undefined;
  } catch {
    return "PostgreSQL does not run as root, and there is no user postgres";
  }
};

/**
 * Finds PostgreSQL's programs, and the user they run as: undefined for the user of this process.
 *
 * @throws Error if PostgreSQL cannot run here
 */
export const findPostgres = () => {
  const bin = programs();
  const missing = whyNoPostgres();
  if (bin === undefined || missing !== undefined) throw new Error(missing);
  return { bin, user: postgresUser() };
};

/** How a server process is started, killed, and when it is ready. */
export interface ServerProcess {
  readonly name: string;
  readonly command: string;
  readonly args: ReadonlyArray<string>;
  readonly options: Pick<ProcessOptions, "cwd" | "user">;
  /** The signal that ends it at once, with nothing put in order. */
  readonly killedBy: NodeJS.Signals;
  readonly ready: (started: StartedProcess) => Promise<void>;
}

const LOWEST_PORT = 10_000;
/** Temporal keeps the ports of its cluster's members as smallint in PostgreSQL. */
const HIGHEST_PORT = 32_767;

/** Chooses a free port that fits into a smallint, below those that the system assigns. */
export const chooseLowPort = async (): Promise<number> => {
  const candidates = Array.from({ length: 100 }, () => randomInt(LOWEST_PORT, HIGHEST_PORT + 1));
  const port = await getPort({ host: "127.0.0.1", reserve: true, port: candidates });
  if (port <= HIGHEST_PORT) return port;
  throw new Error(`No free port from ${LOWEST_PORT} to ${HIGHEST_PORT} was found.`);
};

/** The user of the database; it owns everything in it. */
export const DATABASE_USER = "temporal";

/** A PostgreSQL server with its data in one folder, on a free port of this machine. */
export interface Database {
  readonly process: ServerProcess;
  readonly port: number;
  readonly password: string;
}

/** The connections of two frontends and two histories, with some to spare. */
const MOST_CONNECTIONS = 300;

/**
 * Makes a database in a folder, which other users may pass through if this process is root's.
 *
 * Commits wait for the disk, as they do by default: a commit that is lost with the machine is a payment that Temporal
 * has forgotten.
 */
export const createDatabase = async (folder: string): Promise<Database> => {
  const { bin, user } = findPostgres();
  const home = join(folder, "postgres");
  const data = join(home, "data");
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
      // SIGQUIT is its immediate shutdown; after SIGKILL its shared memory stays behind.
      killedBy: "SIGQUIT",
      ready: (started) =>
        untilReady(
          started,
          async () => !(await execa(join(bin, "pg_isready"), to, { reject: false })).failed,
        ),
    },
  };
};
