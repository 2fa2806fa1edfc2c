// The command reads a file of settings by itself: a command line that forgot it would work on another installation.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { loadEnvironment, whyNotDev } from "../src/environment.ts";
import { serverIn } from "../src/servers.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "environment-"));
  const own = process.cwd();
  process.chdir(folder);
  vi.stubEnv("PAYMENTS_LEDGER", undefined);
  vi.stubEnv("PAYMENTS_CLIENT_ID", undefined);
  vi.stubEnv("TEMPORAL_PROFILE", undefined);
  vi.stubEnv("DURABLE_PAYMENTS_DEV", undefined);
  return () => {
    process.chdir(own);
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  };
});

const write = (name: string, ledger: string) =>
  writeFileSync(join(folder, name), `# ours\nPAYMENTS_LEDGER="${ledger}"\nPAYMENTS_CLIENT_ID=c\n`);

const ledger = () => process.env["PAYMENTS_LEDGER"];

it("reads .env of the current folder", () => {
  write(".env", "sqlite:a");
  expect(loadEnvironment(["list", "--json"])).toEqual(["list", "--json"]);
  expect(ledger()).toBe("sqlite:a");
});

it("keeps what the environment has, even if it is empty", () => {
  write(".env", "sqlite:a");
  vi.stubEnv("PAYMENTS_LEDGER", "");
  loadEnvironment([]);
  expect([ledger(), process.env["PAYMENTS_CLIENT_ID"]]).toEqual(["", "c"]);
});

it("needs no file, and takes no folder for one", () => {
  expect(loadEnvironment(["list"])).toEqual(["list"]);
  mkdirSync(join(folder, ".env"));
  expect(loadEnvironment(["list"])).toEqual(["list"]);
});

it.each([
  [
    ["--env-file", "b.env", "show", "i-1"],
    ["show", "i-1"],
  ],
  [
    ["show", "--env-file=b.env", "i-1"],
    ["show", "i-1"],
  ],
  [
    ["worker", "--json", "--env-file", "b.env"],
    ["worker", "--json"],
  ],
])("reads the file that is named, and not .env: %j", (words, rest) => {
  write(".env", "sqlite:a");
  write("b.env", "sqlite:b");
  expect(loadEnvironment(words)).toEqual(rest);
  expect(ledger()).toBe("sqlite:b");
});

it("reads with a profile the file of that profile alone", () => {
  write(".env", "sqlite:a");
  write(".env.staging", "sqlite:staging");
  expect(loadEnvironment(["--profile", "staging", "list"])).toEqual(["list"]);
  expect([ledger(), process.env["TEMPORAL_PROFILE"]]).toEqual(["sqlite:staging", "staging"]);
});

it("does not mix a profile without a file with .env", () => {
  write(".env", "sqlite:a");
  loadEnvironment(["--profile=staging"]);
  expect(ledger()).toBeUndefined();
});

describe("in a clone, the variables of npm run dev", () => {
  const announce = (process_: number) => {
    const file = join(folder, "dev.env");
    writeFileSync(
      file,
      `TEMPORAL_ADDRESS=127.0.0.1:1\nPAYMENTS_LEDGER=sqlite:dev\nDURABLE_PAYMENTS_DEV_PROCESS=${process_}\n`,
    );
    vi.stubEnv("DURABLE_PAYMENTS_DEV", file);
    vi.stubEnv("TEMPORAL_ADDRESS", undefined);
    vi.stubEnv("PAYMENTS_PERSON", undefined);
  };
  const address = () => process.env["TEMPORAL_ADDRESS"];

  it("are the defaults of what .env does not name", () => {
    announce(process.pid);
    writeFileSync(join(folder, ".env"), "PAYMENTS_PERSON=ada\n");
    loadEnvironment([]);
    expect([address(), ledger(), process.env["PAYMENTS_PERSON"]]).toEqual([
      "127.0.0.1:1",
      "sqlite:dev",
      "ada",
    ]);
    expect(whyNotDev()).toBeUndefined();
  });

  it("are not mixed with those of another installation", () => {
    announce(process.pid);
    write(".env", "sqlite:a");
    loadEnvironment([]);
    expect([address(), ledger()]).toEqual([undefined, "sqlite:a"]);
    expect(whyNotDev()).toMatch("not used, because PAYMENTS_LEDGER is set (.env)");
    vi.stubEnv("TEMPORAL_ADDRESS", "temporal:7233");
    loadEnvironment([]);
    expect(whyNotDev()).toMatch("because TEMPORAL_ADDRESS is set");
  });

  it("are gone once it has ended", () => {
    announce(2 ** 30);
    loadEnvironment([]);
    expect(address()).toBeUndefined();
    expect(whyNotDev()).toBe("npm run dev is not running.");
  });
});

it("leaves the words after -- alone", () => {
  expect(loadEnvironment(["show", "--", "--profile"])).toEqual(["show", "--", "--profile"]);
});

describe("refuses, before anything is done,", () => {
  it.each([
    [["--env-file", "none.env"], "none.env cannot be read (ENOENT)"],
    [["--env-file"], "--env-file requires a file"],
    [["--profile", "--json"], "--profile requires a name"],
    [["--profile", "../secret"], "--profile requires a name"],
  ])("%j", (words, why) => {
    expect(() => loadEnvironment(words)).toThrow(why);
  });
});

it.each([
  [["worker", "--json"], "worker", ["--json"]],
  [["--help", "simulator"], "simulator", ["--help"]],
  [["codec-server"], "codec-server", []],
] as const)("finds the server of %j", (words, name, rest) => {
  expect(serverIn(words)).toMatchObject({ name, rest });
});

it.each([[[]], [["list", "--find", "worker"]], [["toString"]]])("finds none in %j", (words) => {
  expect(serverIn(words)).toBeUndefined();
});
