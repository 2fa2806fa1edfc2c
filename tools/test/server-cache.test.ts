import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { staleAfterMs, withLock } from "../src/lock.mjs";
import { cacheFolder, fillAtomically } from "../src/servers/server-cache.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "cache-"));
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

describe("cacheFolder", () => {
  it("follows the custom of each system", () => {
    expect(cacheFolder({ XDG_CACHE_HOME: "/c" }, "linux")).toBe(join("/c", "durable-payments"));
    expect(cacheFolder({}, "linux")).toMatch(/\.cache.durable-payments$/);
    expect(cacheFolder({}, "darwin")).toMatch(/Library.Caches.durable-payments$/);
    expect(cacheFolder({ LOCALAPPDATA: "/l" }, "win32")).toBe(join("/l", "durable-payments"));
  });
});

describe("fillAtomically", () => {
  it("shows the folder only when it is complete, and leaves nothing of a failure", async () => {
    const target = join(folder, "server-1");
    await expect(
      fillAtomically(target, async (partial) => {
        await writeFile(join(partial, "half"), "");
        expect(await readdir(folder)).not.toContain("server-1");
        throw new Error("the network went away");
      }),
    ).rejects.toThrow("the network went away");
    expect(await readdir(folder)).toEqual([]);
  });

  it("keeps the first of two that finish", async () => {
    const target = join(folder, "server-1");
    await fillAtomically(target, async (slow) => {
      await fillAtomically(target, async (fast) => await writeFile(join(fast, "by"), "fast"));
      await writeFile(join(slow, "by"), "slow");
    });
    expect(await readFile(join(target, "by"), "utf8")).toBe("fast");
    expect(await readdir(folder)).toEqual(["server-1"]);
  });
});

describe("withLock", () => {
  it("lets one after the other in", async () => {
    const path = join(folder, "lock");
    let inside = 0;
    let waited = 0;
    const work = async () => {
      inside += 1;
      expect(inside).toBe(1);
      await readdir(folder);
      inside -= 1;
    };
    const onWait = () => {
      waited += 1;
    };
    await Promise.all([1, 2, 3].map(async () => await withLock(path, work, onWait)));
    expect(waited).toBe(2);
    expect(await readdir(folder)).toEqual([]);
  });

  it("is released when the work fails", async () => {
    const path = join(folder, "lock");
    await expect(withLock(path, async () => await Promise.reject(new Error("no")))).rejects.toThrow(
      "no",
    );
    expect(await withLock(path, async () => await Promise.resolve("in"))).toBe("in");
  });

  it("is taken over from a holder that has died", async () => {
    const path = join(folder, "lock");
    await writeFile(path, "1\n");
    const longAgo = new Date(Date.now() - staleAfterMs - 1000);
    await utimes(path, longAgo, longAgo);
    expect(await withLock(path, async () => await Promise.resolve("in"))).toBe("in");
  });
});
