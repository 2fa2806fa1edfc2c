import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createLocalEnvironment, startApp, startProcess } from "@durable-payments/tools/testing";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BundledApp, buildApp } from "../src/build-app.ts";
import { type App, appArguments, checkout, NO_PROFILES } from "../src/processes.ts";

const run = async (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv) => {
  const { exitCode, stderr, stdout } = await execa(process.execPath, args, {
    env: { FORCE_COLOR: undefined, ...env },
    reject: false,
  });
  return { exitCode, stderr, stdout };
};

// Within the checkout: what is not built in is found there. As in apps/: the command line finds the worker from its folder.
const local = join(checkout, ".local/");
let folder: string;
const folderOf = (app: BundledApp): URL => pathToFileURL(`${join(folder, app, "dist/app")}/`);

beforeAll(async () => {
  // The worker that was built bundles the workflows of the packages as they were built.
  await execa("nx", ["run-many", "-t", "build", "-p", "@durable-payments/workflows"], {
    cwd: checkout,
    preferLocal: true,
    localDir: checkout,
  });
  mkdirSync(local, { recursive: true });
  folder = mkdtempSync(`${local}built-test-`);
  await Promise.all([
    buildApp("starter", folderOf("starter")),
    buildApp("worker", folderOf("worker")),
  ]);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The arguments with which this Node runs what was built. */
const builtArguments = (app: App, args: ReadonlyArray<string>): Array<string> =>
  appArguments(app, args, fileURLToPath(new URL("main.mjs", folderOf("starter"))));

describe("what was built runs as the sources do:", () => {
  const variables = {
    TEMPORAL_CONFIG_FILE: NO_PROFILES,
    TEMPORAL_ADDRESS: "127.0.0.1:1",
    TEMPORAL_NAMESPACE: "default",
    PAYMENTS_BASE_URL: "http://127.0.0.1:1",
    PAYMENTS_CLIENT_ID: "client",
    PAYMENTS_API_KEY: "very-secret",
  };

  it.each<[string, App, ReadonlyArray<string>, NodeJS.ProcessEnv, number]>([
    ["the starter's help", "starter", ["list", "--help"], {}, 0],
    ["an invalid input", "starter", ["pay", NO_PROFILES, "--json"], {}, 2],
    ["the worker's help", "worker", ["--help"], {}, 0],
    ["the simulator's help", "simulator", ["--help"], {}, 0],
    ["an option that the worker does not know", "worker", ["--jsno"], {}, 2],
    ["an invalid log format", "worker", [], { PAYMENTS_LOG_FORMAT: "xml" }, 1],
    ["no Temporal", "worker", [], {}, 1],
  ])("%s", async (_, app, args, changes, code) => {
    const env = { ...variables, ...changes };
    const [built, source] = await Promise.all([
      run(builtArguments(app, args), env),
      run(appArguments(app, args), env),
    ]);
    expect(built).toEqual(source);
    expect(built.exitCode).toBe(code);
    expect(`${built.stdout}${built.stderr}`).not.toBe("");
    expect(`${built.stdout}${built.stderr}`).not.toContain("very-secret");
  });

  it("the worker polls, says so in one line, and drains", async () => {
    const [environment, simulator] = await Promise.all([
      createLocalEnvironment(),
      startApp("simulator", ["--json", "--port", "0"]),
    ]);
    try {
      const env = {
        ...variables,
        TEMPORAL_ADDRESS: environment.address,
        PAYMENTS_BASE_URL: String(simulator.ready["url"]),
        PAYMENTS_TASK_QUEUE: "built",
      };
      const polling = await startProcess(
        process.execPath,
        builtArguments("worker", ["--json"]),
        env,
      );
      const { ledger, ...ready } = polling.ready;
      expect(ready).toEqual({ ready: true, namespace: "default", taskQueue: "built" });
      expect(ledger).toContain(".sqlite");
      expect(await polling.kill("SIGTERM")).toEqual({ code: 0, signal: undefined });
      expect(polling.stdout().trimEnd().split("\n")).toHaveLength(1);
      expect(polling.stderr()).toBe("");
    } finally {
      await simulator.kill();
      await environment.teardown();
    }
  });
});

it("loads neither the client nor Temporal's SDK before a command needs them", () => {
  const starter = fileURLToPath(folderOf("starter"));
  const chunks = globSync("{main,start,cli}*.mjs", { cwd: starter });
  expect(chunks.length).toBeGreaterThan(1);
  for (const chunk of chunks) {
    const text = readFileSync(join(starter, chunk), "utf8");
    expect(text).not.toContain("node_modules/undici");
    expect(text).not.toContain("node_modules/@temporalio");
  }
});

/** Prints at the end whether gRPC has run, which needs this module of Node. */
const TELLS = `--import=data:text/javascript,process.on("exit", () =>
  console.error(process.moduleLoadList.includes("NativeModule http2") ? "gRPC" : "no gRPC"))`;

it.each([
  [["--help"], "no gRPC"],
  [["list"], "no gRPC"],
  [["report"], "no gRPC"],
  [["inbox"], "no gRPC"],
  [[], "gRPC"],
] as const)("%j runs %s", async (args, expected) => {
  const env = {
    PAYMENTS_LEDGER: `sqlite:${join(folder, "ledger.sqlite")}`,
    TEMPORAL_ADDRESS: "127.0.0.1:1",
    TEMPORAL_CONFIG_FILE: NO_PROFILES,
  };
  await run(builtArguments("starter", ["ledger", "migrate"]), env);
  const { exitCode, stderr } = await run([TELLS, ...builtArguments("starter", args)], env);
  expect({ exitCode, last: stderr.split("\n").at(-1) }).toEqual({ exitCode: 0, last: expected });
});
