import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Reporter } from "../src/command.ts";
import {
  cachedFolder,
  checkJars,
  ensureServer,
  type Installer,
  locate,
  type Server,
  ServerNotFound,
  testServer,
} from "../src/servers.ts";

let folder: string;
let env: NodeJS.ProcessEnv;
const silent: Reporter = { line: () => {}, during: async (_text, work) => await work };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "locate-"));
  env = {
    XDG_CACHE_HOME: join(folder, "cache"),
    LOCALAPPDATA: join(folder, "cache"),
    PATH: join(folder, "bin"),
  };
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

const executable = async (path: string): Promise<string> => {
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, "#!/bin/sh\n");
  await chmod(path, 0o755);
  return path;
};

const server = (installers: Readonly<Record<string, Installer>> = {}): Server => ({
  title: "Made-up server",
  variable: "MADE_UP_PATH",
  command: "made-up",
  version: "1.2.3",
  installers,
});

const failing =
  (reason: string): Installer =>
  () =>
    Promise.reject(new Error(reason));

const leaving: Installer = async ({ command }, target) => {
  await executable(join(target, command));
};

describe.skipIf(process.platform === "win32")("locate", () => {
  it("takes the variable first, then the PATH, then the cache", async () => {
    const wanted = server();
    expect(locate(wanted, env)).toBeUndefined();
    const cached = await executable(join(cachedFolder(wanted, env), "made-up"));
    expect(locate(wanted, env)).toEqual({ path: cached, from: "cache" });
    const onPath = await executable(join(folder, "bin", "made-up"));
    expect(locate(wanted, env)).toEqual({ path: onPath, from: "PATH" });
    const named = await executable(join(folder, "elsewhere", "mine"));
    expect(locate(wanted, { ...env, MADE_UP_PATH: named })).toEqual({
      path: named,
      from: "MADE_UP_PATH",
    });
  });

  it("names a variable that leads nowhere, though the cache has one", async () => {
    const wanted = server({ build: leaving });
    await executable(join(cachedFolder(wanted, env), "made-up"));
    const wrong = { ...env, MADE_UP_PATH: join(folder, "missing") };
    await expect(ensureServer(wanted, silent, wrong)).rejects.toThrow(
      `MADE_UP_PATH names ${join(folder, "missing")}, which is not an executable file`,
    );
  });

  it("passes over a file that cannot be executed", async () => {
    await mkdir(join(folder, "bin"));
    await writeFile(join(folder, "bin", "made-up"), "text");
    expect(locate(server(), env)).toBeUndefined();
  });
});

describe.skipIf(process.platform === "win32")("ensure", () => {
  it("tries the installers in their order and keeps what the first good one leaves", async () => {
    const wanted = server({ download: failing("no connection"), build: leaving });
    const path = join(cachedFolder(wanted, env), "made-up");
    expect(await ensureServer(wanted, silent, env)).toEqual({ path, from: "build" });
    expect(await ensureServer(wanted, silent, env)).toEqual({ path, from: "cache" });
  });

  it("names every step that failed, in order, and what to do", async () => {
    const wanted = server({ download: failing("no connection"), build: failing("Go is missing") });
    const error: unknown = await ensureServer(wanted, silent, env).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ServerNotFound);
    expect(String(error)).toBe(
      [
        "ServerNotFound: The Made-up server 1.2.3 could not be installed. Tried in this order:",
        `  1. MADE_UP_PATH, PATH and cache (${cachedFolder(wanted, env)}): not there`,
        "  2. download: no connection",
        "  3. build: Go is missing",
        "Repair one of them, or install it yourself and set MADE_UP_PATH to its path.",
      ].join("\n"),
    );
  });

  it("leaves a complete folder of several callers at the same time, and nothing else", async () => {
    const wanted = server({ build: leaving });
    const found = await Promise.all([1, 2, 3].map(() => ensureServer(wanted, silent, env)));
    expect(new Set(found.map(({ path }) => path)).size).toBe(1);
    expect(await readdir(join(folder, "cache", "durable-payments"))).toEqual(["made-up-1.2.3"]);
  });

  it("starts nothing that others could have put there", async () => {
    const wanted = server({ build: leaving });
    const { path } = await ensureServer(wanted, silent, env);
    await chmod(path, 0o777);
    expect(() => locate(wanted, env)).toThrow(/another user owns it or can write to it/);
  });

  it("takes no jars but those whose SHA-256 are pinned", async () => {
    await writeFile(join(folder, "LatencyUtils-2.0.3.jar"), "another");
    expect(() => checkJars(testServer, folder)).toThrow(/SHA-256.*LatencyUtils-2\.0\.3\.jar/s);
  });
});
