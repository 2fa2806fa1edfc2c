/**
 * Where the Temporal servers of tests, previews and development are on this machine.
 *
 * The SDK downloads a server once, which many networks do not allow. So an installed server is taken first: named by a
 * variable, on the PATH, or in the cache that `npm run setup` of a clone fills. Files in the cache are executed: no other
 * user may write there.
 */
import { accessSync, constants, lstatSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";

/** A Temporal server as a file on this machine. */
export interface ServerFile {
  readonly title: string;
  /** The environment variable that names the executable; it overrides all else. */
  readonly variable: string;
  /** The name of the executable on the PATH and in the cache. */
  readonly command: string;
  /** The pinned version, without "v". */
  readonly version: string;
}

/** The servers of tests, by their kind: `time-skipping` skips days; `dev` is a real server in real time. */
export const TEST_SERVERS = {
  "time-skipping": {
    title: "Temporal time-skipping test server",
    variable: "TEMPORAL_TEST_SERVER_PATH",
    command: "temporal-test-server",
    version: "1.38.0",
  },
  dev: {
    title: "Temporal CLI",
    variable: "TEMPORAL_CLI_PATH",
    command: "temporal",
    version: "1.5.1",
  },
} as const satisfies Readonly<Record<string, ServerFile>>;

/** An executable and how it was found. */
export interface Located {
  readonly path: string;
  readonly from: string;
}

/** A server was not found, could not be installed, or must not run; the message names what to do. */
export class ServerNotFound extends Error {
  override readonly name = "ServerNotFound";
}

/** The per-user folder in which downloaded and built servers are kept, for all checkouts together. */
const cacheFolder = ({ XDG_CACHE_HOME }: NodeJS.ProcessEnv): string =>
  join(XDG_CACHE_HOME || join(homedir(), ".cache"), "durable-payments");

/** Returns the folder of the cache for this version of a server. */
export const cachedFolder = (server: ServerFile, env: NodeJS.ProcessEnv = process.env): string =>
  join(cacheFolder(env), `${server.command}-${server.version}`);

/** Returns whether a path is that of a file which this process may execute. */
export const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

const WRITABLE_BY_OTHERS = 0o022;

const refuseForeign = (path: string): void => {
  if (process.getuid === undefined) return;
  const { mode, uid } = lstatSync(path);
  const isOwn = uid === process.getuid() || uid === 0;
  if (isOwn && (mode & WRITABLE_BY_OTHERS) === 0) return;
  throw new ServerNotFound(
    `${path} is not started: another user owns it or can write to it. See who has changed it, remove it, and run \`npm run setup\`.`,
  );
};

/**
 * Finds an installed server: by the environment variable, on the PATH, in the per-user cache.
 *
 * @throws ServerNotFound if the variable names no executable file, or others can write to the cache
 */
export const locate = (
  server: ServerFile,
  env: NodeJS.ProcessEnv = process.env,
): Located | undefined => {
  const named = env[server.variable];
  if (named) {
    const path = resolve(named);
    if (isExecutable(path)) return { path, from: server.variable };
    throw new ServerNotFound(
      `${server.variable} names ${path}, which is not an executable file: correct it, or unset it.`,
    );
  }
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const onPath = folders.map((folder) => resolve(folder, server.command)).find(isExecutable);
  if (onPath !== undefined) return { path: onPath, from: "PATH" };
  const folder = cachedFolder(server, env);
  const cached = join(folder, server.command);
  if (!isExecutable(cached)) return undefined;
  for (const path of [cacheFolder(env), folder, cached]) refuseForeign(path);
  return { path: cached, from: "cache" };
};
