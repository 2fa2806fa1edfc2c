import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ensureServer } from "../src/servers/ensure-server.ts";
import { cachedFolder, locate, ServerNotFound } from "../src/servers/locate-server.ts";
import type { Installer, Server } from "../src/servers/server.ts";
import type { Reporter } from "../src/command/progress.ts";

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

const server = (...installers: Installer[]): Server => ({
  title: "Made-up server",
  kind: "dev-server",
  variable: "MADE_UP_PATH",
  command: "made-up",
  version: "1.2.3",
  installers,
});

const failing = (name: string, reason: string): Installer => ({
  name,
  install: async () => await Promise.reject(new Error(reason)),
});

const leaving = (name: string, calls: string[] = []): Installer => ({
  name,
  install: async ({ command }, target) => {
    calls.push(name);
    await executable(join(target, command));
  },
});

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
    const wanted = server(leaving("never asked"));
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
    const wanted = server(failing("download", "no connection"), leaving("build"));
    const path = join(cachedFolder(wanted, env), "made-up");
    expect(await ensureServer(wanted, silent, env)).toEqual({ path, from: "build" });
    expect(await ensureServer(wanted, silent, env)).toEqual({ path, from: "cache" });
  });

  it("names every step that failed, in order, and what to do", async () => {
    const wanted = server(failing("download", "no connection"), failing("build", "Go is missing"));
    const error: unknown = await ensureServer(wanted, silent, env).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ServerNotFound);
    expect(String(error)).toBe(
      [
        "ServerNotFound: The Made-up server 1.2.3 could not be installed. Tried in this order:",
        "  1. MADE_UP_PATH: not set",
        "  2. PATH: no made-up",
        `  3. cache: nothing in ${cachedFolder(wanted, env)}`,
        "  4. download: no connection",
        "  5. build: Go is missing",
        "Repair one of them, or install it yourself and set MADE_UP_PATH to its path.",
      ].join("\n"),
    );
  });

  it("installs once for several callers at the same time", async () => {
    const calls: string[] = [];
    const wanted = server(leaving("build", calls));
    const found = await Promise.all(
      [1, 2, 3].map(async () => await ensureServer(wanted, silent, env)),
    );
    expect(new Set(found.map(({ path }) => path)).size).toBe(1);
    expect(calls).toEqual(["build"]);
  });
});
