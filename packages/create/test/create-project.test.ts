import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { expect, it, onTestFinished } from "vitest";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));

const emptyFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "create-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

it("makes a project that is named after its folder", () => {
  const cwd = emptyFolder();
  const printed = execFileSync(process.execPath, [main, "My Payments"], {
    cwd,
    encoding: "utf8",
  });
  const project = join(cwd, "My Payments");
  expect(printed).toContain(`Created ${project}.\n\nNext:\n  cd My Payments\n`);
  expect(readFileSync(join(project, "package.json"), "utf8")).toContain('"name": "my-payments"');
  expect(readFileSync(join(project, ".gitignore"), "utf8")).toContain(".env");
  expect(readFileSync(join(project, ".env"), "utf8")).toContain("PAYMENTS_BASE_URL=");
  expect(existsSync(join(project, "env"))).toBe(false);
});

it("makes a project that takes the package of its own release", () => {
  const cwd = emptyFolder();
  execFileSync(process.execPath, [main, "."], { cwd });
  const own = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    readonly version: string;
  };
  const made = readFileSync(join(cwd, "package.json"), "utf8");
  const [, taken] = /"durable-payments": "([^"]+)"/.exec(made) ?? [];
  expect(taken).toBe(own.version);
});

it("has no words for the command line, which reads the project's settings by itself", () => {
  const cwd = emptyFolder();
  execFileSync(process.execPath, [main, "."], { cwd });
  const read = (file: string) => readFileSync(join(cwd, file), "utf8");
  const commandLine = fileURLToPath(new URL("../../../apps/starter/src/main.ts", import.meta.url));
  const args = ["--conditions=@durable-payments/source", commandLine, "doctor", "--json"];
  const { PAYMENTS_PERSON } = parseEnv(read(".env"));
  expect(PAYMENTS_PERSON).toBe("ada");
  const { stdout } = spawnSync(process.execPath, args, {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: cwd, TEMPORAL_ADDRESS: "127.0.0.1:1" },
  });
  // The account and the ledger are those of `.env`; neither is there yet.
  expect(stdout).toContain("ledger.sqlite");
  expect(stdout).toContain("127.0.0.1:4010");
  expect(read("package.json")).not.toContain("main.mjs");
});

it("makes a project whose code fits the package", () => {
  const project = fileURLToPath(new URL("../template/tsconfig.json", import.meta.url));
  const tsc = fileURLToPath(new URL("../../../node_modules/.bin/tsc", import.meta.url));
  // The sources of the package, which are checked, too, are written with the last of these.
  const flags = ["--customConditions", "@durable-payments/source", "--exactOptionalPropertyTypes"];
  const { stdout } = spawnSync(tsc, ["-p", project, ...flags], { encoding: "utf8" });
  expect(stdout).toBe("");
});

it("writes to no folder that has files in it", () => {
  const cwd = emptyFolder();
  writeFileSync(join(cwd, "mine.txt"), "mine");
  const { status, stderr } = spawnSync(process.execPath, [main, "."], { cwd, encoding: "utf8" });
  expect(status).toBe(2);
  expect(stderr).toContain("is not empty");
  expect(existsSync(join(cwd, "package.json"))).toBe(false);
});

it("says what is wrong with its arguments", () => {
  const { status, stderr } = spawnSync(process.execPath, [main, "--nope"], { encoding: "utf8" });
  expect(status).toBe(2);
  expect(stderr).toContain("--nope");
});
