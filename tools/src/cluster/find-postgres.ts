import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

const DEBIAN = "/usr/lib/postgresql";

/** The folder of PostgreSQL's programs, or undefined where they are not installed. */
const programs = (): string | undefined => {
  const installed = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const initdb = [
    ...(process.env["PATH"] ?? "").split(delimiter),
    ...installed.map((version) => join(DEBIAN, version, "bin")),
  ]
    .map((folder) => join(folder, "initdb"))
    .find(existsSync);
  // On the PATH there may be links to some of them only.
  return initdb === undefined ? undefined : dirname(realpathSync(initdb));
};

/** The user by whom a process runs. */
export interface ProcessUser {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root: then it runs as the user that its package has made. */
const postgresUser = (): ProcessUser | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { stdio: "pipe" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
};

/** Why PostgreSQL cannot run here, or undefined where it can. */
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
 * Find PostgreSQL's programs, and the user by whom they run: undefined where that is the user of this process.
 *
 * @throws Error where PostgreSQL cannot run here
 */
export const findPostgres = (): {
  readonly bin: string;
  readonly user: ProcessUser | undefined;
} => {
  const bin = programs();
  const missing = whyNoPostgres();
  if (bin === undefined || missing !== undefined) throw new Error(missing);
  return { bin, user: postgresUser() };
};
