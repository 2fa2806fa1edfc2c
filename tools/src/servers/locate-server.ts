import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import {
  NotIntact,
  NotRecorded,
  recordFiles,
  refuseWritableByOthers,
  verifyFiles,
} from "../integrity.mjs";
import { cacheFolder } from "./server-cache.ts";
import type { Server } from "./server.ts";

/** An executable and how it was found. */
export interface Located {
  readonly path: string;
  readonly from: string;
}

/** A server was not found and could not be installed, or must not run; the message names what was tried and what to do. */
export class ServerNotFound extends Error {
  override readonly name = "ServerNotFound";
}

/** Where the cache keeps this version of the server. */
export const cachedFolder = (server: Server, env: NodeJS.ProcessEnv = process.env): string =>
  join(cacheFolder(env), `${server.command}-${server.version}`);

/** The name of the server's executable file. */
export const executableName = (server: Server): string =>
  process.platform === "win32" ? `${server.command}.exe` : server.command;

/**
 * Find an installed server: by the environment variable, on the PATH, in the per-user cache.
 *
 * @throws ServerNotFound when the variable names no executable file, or the one in the cache is not what was installed
 */
export const locate = (
  server: Server,
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
  const onPath = findOnPath(executableName(server), env);
  if (onPath !== undefined) return { path: onPath, from: "PATH" };
  const cached = join(cachedFolder(server, env), executableName(server));
  if (!isExecutable(cached)) return undefined;
  checkCached(server, env);
  return { path: cached, from: "cache" };
};

/** Refuses what is not what was installed, or what others could have put there. */
const checkCached = (server: Server, env: NodeJS.ProcessEnv): void => {
  const folder = cachedFolder(server, env);
  try {
    refuseWritableByOthers(cacheFolder(env));
    verifyOrRecord(folder);
  } catch (error) {
    if (!(error instanceof NotIntact)) throw error;
    throw new ServerNotFound(
      `The ${server.title} ${server.version} of the cache is not started: ${error.message}. See who has changed it, remove ${folder}, and run \`npm run setup\`, which installs it again.`,
    );
  }
};

/** Installed before servers were recorded, it is recorded as it is found first. */
const verifyOrRecord = (folder: string): void => {
  try {
    verifyFiles(folder);
  } catch (error) {
    if (!(error instanceof NotRecorded)) throw error;
    recordFiles(folder);
    verifyFiles(folder);
  }
};

const findOnPath = (file: string, env: NodeJS.ProcessEnv): string | undefined =>
  (env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => resolve(folder, file))
    .find(isExecutable);

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};
