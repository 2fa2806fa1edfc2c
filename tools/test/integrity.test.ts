import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { freshBuild } from "../src/fresh-build.mjs";
import { NotIntact, NotRecorded, recordFiles, verifyFiles } from "../src/integrity.mjs";
import { checkJars } from "../src/servers/fetch-with-maven.ts";
import { cachedFolder, locate } from "../src/servers/locate-server.ts";
import { testServer } from "../src/servers/temporal-servers.ts";

let parent: string;
let folder: string;

const write = (name: string, content: string): string => {
  const file = join(folder, name);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, content, { mode: 0o755 });
  return file;
};

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "integrity-"));
  folder = join(parent, "made");
  write("server", "#!/bin/sh\n");
  write("lib/one.jar", "one");
});
afterEach(() => rmSync(parent, { recursive: true }));

/** With the time that it had, as somebody would who hides a change. */
const edit = (file: string, content: string): void => {
  const { atime, mtime } = statSync(file);
  writeFileSync(file, content);
  utimesSync(file, atime, mtime);
};

describe("the files of a folder", () => {
  it("are not known before they were recorded, and good as long as they are as they were", () => {
    expect(() => verifyFiles(folder)).toThrow(NotRecorded);
    recordFiles(folder);
    expect(() => verifyFiles(folder)).not.toThrow();
    expect(() => verifyFiles(folder)).not.toThrow();
  });

  it("are the same after they were copied", () => {
    recordFiles(folder);
    const copy = join(parent, "copy");
    cpSync(folder, copy, { recursive: true });
    expect(() => verifyFiles(copy)).not.toThrow();
  });

  it.each<[string, () => void, string]>([
    ["edited", () => edit(join(folder, "server"), "#!/bin/zh\n"), "its SHA-256 differs"],
    ["added", () => write("lib/two.jar", ""), "two.jar was not there when it was made"],
    ["removed", () => rmSync(join(folder, "lib", "one.jar")), "one.jar is missing"],
    [
      "replaced by a link",
      () => {
        rmSync(join(folder, "lib", "one.jar"));
        symlinkSync("../server", join(folder, "lib", "one.jar"));
      },
      "one.jar was not there when it was made",
    ],
    ["recorded by nonsense", () => write("integrity.json", "{"), "integrity.json is no record"],
  ])("are refused where one was %s", (_, change, why) => {
    recordFiles(folder);
    verifyFiles(folder);
    change();
    expect(() => verifyFiles(folder)).toThrow(NotIntact);
    expect(() => verifyFiles(folder)).toThrow(why);
  });

  it.runIf(process.getuid !== undefined).each(["", "server", "lib", "integrity.json"])(
    "are refused where others can write to %j",
    (name) => {
      recordFiles(folder);
      chmodSync(join(folder, name), 0o777);
      expect(() => verifyFiles(folder)).toThrow("others can write to");
      expect(() => verifyFiles(folder)).toThrow("chmod go-w");
    },
  );
});

describe.skipIf(process.platform === "win32")("a server of the cache", () => {
  const wanted = { ...testServer, command: "made-up", version: "1" };
  const cache = () => ({ XDG_CACHE_HOME: join(parent, "cache"), PATH: "" });
  const install = () => {
    const target = cachedFolder(wanted, cache());
    mkdirSync(target, { recursive: true, mode: 0o700 });
    writeFileSync(join(target, "made-up"), "#!/bin/sh\n", { mode: 0o755 });
    return target;
  };

  it("is recorded as it is found first, and started as it was then only", () => {
    const target = install();
    expect(locate(wanted, cache())?.from).toBe("cache");
    expect(existsSync(join(target, "integrity.json"))).toBe(true);
    edit(join(target, "made-up"), "#!/bin/zh\n");
    expect(() => locate(wanted, cache())).toThrow(
      /^The Temporal time-skipping test server 1 of the cache is not started: .*made-up is not as it was made: its SHA-256 differs\. See who has changed it, remove .*made-up-1, and run `npm run setup`/,
    );
  });

  it.each(["", ".."])("is not started where others can write to its folder (%j)", (above) => {
    const target = install();
    chmodSync(join(target, above), 0o777);
    expect(() => locate(wanted, cache())).toThrow("others can write to");
  });
});

describe("what was built of an app", () => {
  const main = "apps/starter/dist/app/main.mjs";
  beforeEach(() => {
    write("packages/one/package.json", "{}");
    const file = write(main, "built");
    const later = new Date(Date.now() + 1000);
    utimesSync(file, later, later);
    recordFiles(join(file, ".."));
  });

  it("is run as it was built, and not where it was edited", () => {
    expect(freshBuild(folder, "starter")).toBe(join(folder, main));
    edit(join(folder, main), "other");
    expect(() => freshBuild(folder, "starter")).toThrow(
      /^What was built in .* is not run: .*main\.mjs is not as it was made: its SHA-256 differs\. See who has changed it, and run "npm run build" again\.$/,
    );
  });

  it("is not run where nobody recorded it", () => {
    rmSync(join(folder, main, "..", "integrity.json"));
    expect(freshBuild(folder, "starter")).toBeUndefined();
  });
});

describe("the jars of the test server", () => {
  const pins = new URL(
    `../src/servers/${testServer.command}-${testServer.version}.sha256`,
    import.meta.url,
  );

  it("are pinned, each by its SHA-256", () => {
    const lines = readFileSync(pins, "utf8").trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(30);
    for (const line of lines) expect(line).toMatch(/^[0-9a-f]{64} {2}[\w.-]+\.jar$/);
    expect(lines.join()).toContain(`temporal-test-server-${testServer.version}.jar`);
  });

  it("are refused where one is missing, or another one", async () => {
    const lib = join(folder, "lib");
    await expect(checkJars(testServer, lib)).rejects.toThrow("is missing among what Maven fetched");
    for (const line of readFileSync(pins, "utf8").trimEnd().split("\n")) {
      writeFileSync(join(lib, line.split(/\s+/)[1] ?? ""), "not what it was");
    }
    await expect(checkJars(testServer, lib)).rejects.toThrow("is not the one that is pinned");
  });
});
