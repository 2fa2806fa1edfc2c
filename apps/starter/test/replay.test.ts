import {
  beneficiary,
  fields,
  like,
  listWith,
  options,
  payout,
} from "@durable-payments/tools/test-data";
import { readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { runTemporalCli } from "@durable-payments/tools/testing";
import { describe, expect, it } from "vitest";
import { changedWorkflows } from "./support/changed-workflows.ts";
import { makeRig } from "./support/rig.ts";
import { jsonOf } from "./support/starter.ts";

// Most replays bundle the workflows: a busy machine takes its time.

const { file, found, simulator, starter, starterProcess, stopWorker, temporal } = await makeRig({
  settleAfter: 0,
  balances: { EUR: "1000.00" },
});
const folder = dirname(await file("folder.json", {}));

const pay = async (workflowId: string, amount: string): Promise<void> => {
  const handle = await temporal.client.workflow.start("payout", {
    workflowId,
    taskQueue: "payments",
    args: [
      { beneficiary: { ...beneficiary, nickname: amount }, payout: { ...payout, amount }, options },
    ],
  });
  await handle.result().catch(() => undefined);
};

// A run that ends well and two that fail; then there is no worker any more.
await pay("paid", "10.00");
await simulator.addFault({ kind: "refusal-in-200", operation: "createPayout", times: 2 });
await pay("refused-1", "11.00");
await pay("refused-2", "12.00");
await stopWorker();
await found('ExecutionStatus = "Failed"', 2);

/** One wait more, before the payout is created: it breaks every run that came so far. */
const ONE_MORE = "await new Promise((done) => setTimeout(done, 60_000));";
const BEFORE = "const created = await createPayout(";
const changed = await changedWorkflows("definitions/payout.ts", BEFORE, `${ONE_MORE}\n${BEFORE}`);

/** The step of the payout by another name: for Temporal it does the same. */
const CREATED = "{ ...approved.payout, beneficiary_id }";
const renamed = await changedWorkflows(
  "definitions/payout.ts",
  `createPayout(run, ${CREATED})`,
  `createPayout(run, ${CREATED}, "payTheInvoice")`,
);

/** A module of somebody's own workflows, which does not have those of this project. */
const own = fileURLToPath(new URL("./support/own-workflows.ts", import.meta.url));

const widest = (text: string): number => Math.max(...text.split("\n").map((line) => line.length));

const deterministic = (workflowId: string) => ({
  workflowId,
  type: "payout",
  events: expect.any(Number) as unknown,
  deterministic: true,
});

const differing = (workflowId: string) => ({
  workflowId,
  type: "payout",
  events: expect.any(Number) as unknown,
  deterministic: false,
  kind: "nondeterminism",
  message: like(/Nondeterminism/),
  difference: {
    event: {
      id: expect.any(Number) as unknown,
      type: "ACTIVITY_TASK_SCHEDULED",
      name: "createPayout",
    },
    command: { type: "TIMER_STARTED" },
    stack: listWith({
      file: like(/src\/definitions\/payout\.ts$/),
      line: expect.any(Number) as unknown,
      column: expect.any(Number) as unknown,
      source: ONE_MORE,
    }),
    waitsAt: listWith(),
  },
});

const exported = join(folder, "paid.json");

/** The exported history with one text replaced. */
const historyWith = async (before: string, after: string): Promise<string> => {
  const text = await readFile(exported, "utf8");
  expect(text).toContain(before);
  return text.replace(before, after);
};

describe("runs export", () => {
  it("writes a history that only its owner can read, and reports it", async () => {
    const called = await starter(["runs", "export", "paid", "--file", exported]);
    expect(called.stderr).toBe("");
    expect(called.exitCode).toBe(0);
    expect(called.stdout).toMatch(/^\d+ events written to .*Only you can read it/);
    expect((await stat(exported)).mode & 0o777).toBe(0o600);
    const { events } = JSON.parse(await readFile(exported, "utf8")) as { events: Array<object> };
    expect(events[0]).toMatchObject({
      eventId: "1",
      eventType: "EVENT_TYPE_WORKFLOW_EXECUTION_STARTED",
      workflowExecutionStartedEventAttributes: { workflowType: { name: "payout" } },
    });
  });

  it("writes what Temporal's command line writes", async () => {
    const line = "temporal workflow show --workflow-id paid --output json";
    const shown: unknown = JSON.parse(await runTemporalCli(line, temporal.address));
    expect(JSON.parse(await readFile(exported, "utf8"))).toEqual(shown);
  });

  it("never overwrites a file", async () => {
    const taken = await file("taken.json", "mine");
    const called = await starter(["runs", "export", "paid", "--file", taken]);
    expect(called.exitCode).toBe(2);
    expect(called.stderr).toContain("it exists already");
    expect(await readFile(taken, "utf8")).toBe("mine");
  });

  it("reports to a program which run it was", async () => {
    const name = join(folder, "for-a-program.json");
    const { runId } = await temporal.client.workflow.getHandle("paid").describe();
    const called = await starter([
      "runs",
      "export",
      "paid",
      "--run-id",
      runId,
      "--file",
      name,
      "--json",
    ]);
    expect(jsonOf(called)).toEqual({
      workflowId: "paid",
      runId,
      events: expect.any(Number) as unknown,
      file: name,
    });
  });

  it("reports that there is no such run", async () => {
    const called = await starter(["runs", "export", "nobody", "--file", join(folder, "no.json")]);
    expect(called.exitCode).toBe(2);
    expect(called.stderr).toContain("There is no run with the id nobody");
  });
});

describe("runs replay", () => {
  it("a run that goes on under this checkout is deterministic; no worker is needed", async () => {
    const called = await starterProcess(["runs", "replay", "paid"]);
    expect(called.stderr).toBe("");
    expect(called.stdout).toMatch(/^paid +payout +\d+ {2}deterministic$/m);
    expect(called.exitCode).toBe(0);
    expect(jsonOf(await starter(["runs", "replay", "paid", "--json"]))).toEqual({
      runs: [deterministic("paid")],
      more: false,
    });
  });

  it("an exported history needs no server", async () => {
    const env = { TEMPORAL_ADDRESS: "127.0.0.1:1" };
    const stdin = await readFile(exported, "utf8");
    const [ofFile, ofInput] = await Promise.all([
      starter(["runs", "replay", "--file", exported, "--json"], { env }),
      starter(["runs", "replay", "--file", "-", "--json"], { env, stdin }),
    ]);
    expect(jsonOf(ofFile)).toEqual({ runs: [deterministic("paid")], more: false });
    expect(jsonOf(ofInput)).toEqual(jsonOf(ofFile));
    expect(ofFile.exitCode).toBe(0);
  });

  it("all runs that failed are replayed, and they alone", async () => {
    const called = await starter(["runs", "replay", "--failed", "--since", "30d", "--json"]);
    expect(called.exitCode).toBe(0);
    const { runs } = jsonOf(called);
    expect(runs).toHaveLength(2);
    expect(runs).toEqual(listWith(deterministic("refused-1"), deterministic("refused-2")));
    const none = await starter(["runs", "replay", "--failed", "--type", "onboardCardholder"]);
    expect(none).toEqual({ exitCode: 0, stdout: "No such run.\n", stderr: "" });
  });

  it("a change that running workflows would not survive is caught, with its line", async () => {
    const called = await starter(["runs", "replay", "--failed", "--workflows", changed, "--json"]);
    expect(called.exitCode).toBe(1);
    const { runs } = jsonOf(called);
    expect(runs).toHaveLength(2);
    expect(runs).toEqual(listWith(differing("refused-1"), differing("refused-2")));
  });

  it("a person reads what history has, what the code did, and where, in 80 columns", async () => {
    const args = ["runs", "replay", "paid", "--workflows", changed];
    const called = await starter(args);
    expect(called.exitCode).toBe(1);
    expect(called.stderr).toBe("");
    expect(called.stdout).toMatch(/^paid +payout +\d+ {2}differs$/m);
    expect(called.stdout).toMatch(/^ {2}history: event \d+, ActivityTaskScheduled createPayout$/m);
    expect(called.stdout).toMatch(/^ {2}code: +TimerStarted$/m);
    expect(called.stdout).toMatch(/src\/definitions\/payout\.ts:\d+:\d+\n +await new Promise\(/);
    expect(widest(called.stdout)).toBeLessThanOrEqual(80);
    expect(called.stdout).not.toContain(beneficiary.iban);
  });

  it("a step that was renamed is caught, whose key changes", async () => {
    const args = ["runs", "replay", "paid", "--workflows", renamed];
    const called = await starter(args);
    expect(called.exitCode).toBe(1);
    expect(called.stdout).toMatch(/^paid +payout +\d+ {2}differs$/m);
    expect(called.stdout).toMatch(
      /^ {2}history: event \d+, ActivityTaskScheduled createPayout, step createPayout,/m,
    );
    expect(called.stdout).toMatch(/step payTheInvoice,/);
    expect(called.stdout).toContain("const created = await createPayout(run, {");
    expect(called.stdout.replaceAll(/\s+/g, " ")).toContain(
      "sent as the step createPayout the code sends as the step payTheInvoice",
    );
    expect(called.stdout).not.toContain("Temporal:");
    expect(widest(called.stdout)).toBeLessThanOrEqual(80);
    const { runs } = jsonOf(await starter([...args, "--json"]));
    expect(runs).toEqual([fields({ workflowId: "paid", deterministic: false, kind: "otherSend" })]);
  });

  it("beside the workflows of a module, this project's own are replayed", async () => {
    const args = ["runs", "replay", "paid", "--workflows", own, "--json"];
    expect(jsonOf(await starter(args))).toEqual({ runs: [deterministic("paid")], more: false });
  });

  it("a run of another workflow is refused: which module exports it is not known", async () => {
    const name = await file("own.json", await historyWith('"payout"', '"payInvoice"'));
    const without = await starter(["runs", "replay", "--file", name]);
    expect(without.exitCode).toBe(2);
    expect(without.stderr.replaceAll(/\s+/g, " ")).toContain(
      "of the workflow type payInvoice, which is not one of durable-payments': give the module that exports it by --workflows PATH.",
    );
    expect(without.stdout).toBe("");
    const other = await starter(["runs", "replay", "--file", name, "--workflows", renamed]);
    expect(other.exitCode).toBe(2);
    expect(other.stderr).toContain("payInvoice");
    const known = await starter(["runs", "replay", "--file", name, "--workflows", own]);
    expect(known.stdout).toContain("differs");
    expect(known.exitCode).toBe(1);
  });

  it("a history that a codec has written is refused: nothing can be said of it", async () => {
    // The first payload is the input.
    const encrypted = `"encoding": "${btoa("binary/encrypted")}"`;
    const plain = `"encoding": "${btoa("json/plain")}"`;
    const name = await file("encrypted.json", await historyWith(plain, encrypted));
    const called = await starter(["runs", "replay", "--file", name]);
    expect(called.exitCode).toBe(2);
    expect(called.stderr).toMatch(/The history of paid was written by a codec of yours/);
    expect(called.stdout).toBe("");
  });

  it("the workflow id is given for a history that does not say it, and no other one", async () => {
    const name = await file("nameless.json", await historyWith('"workflowId": "paid"', '"a": 1'));
    const nameless = await starter(["runs", "replay", "--file", name]);
    expect(nameless.exitCode).toBe(2);
    expect(nameless.stderr).toMatch(/does not say the workflow id/);
    const given = await starter(["runs", "replay", "paid", "--file", name, "--json"]);
    expect(jsonOf(given)).toEqual({ runs: [deterministic("paid")], more: false });
    const other = await starter(["runs", "replay", "other", "--file", exported]);
    expect(other.exitCode).toBe(2);
    expect(other.stderr).toMatch(/history of the workflow id paid, not of other/);
  });

  it("what the SDK logs is shown where it is wanted", async () => {
    const env = { PAYMENTS_LOG_LEVEL: "info" };
    const called = await starterProcess(["runs", "replay", "--file", exported], { env });
    expect(called.stderr).toContain("Worker state changed");
    expect(called.exitCode).toBe(0);
    const wrong = await starter(["runs", "replay", "--file", exported], {
      env: { PAYMENTS_LOG_LEVEL: "loud" },
    });
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain("PAYMENTS_LOG_LEVEL must be one of");
  });

  it("a run that does not exist is reported", async () => {
    const called = await starter(["runs", "replay", "nobody", "--json"]);
    expect(called.exitCode).toBe(2);
    expect(jsonOf(called)).toEqual({
      error: fields({ type: "BadInput", message: like(/There is no run with the id nobody/) }),
    });
  });
});

describe("what cannot be replayed is reported before anything is done:", () => {
  it.each([
    ["nothing is named", [], /Name exactly one of/],
    ["too much is named", ["paid", "--failed"], /Name exactly one of/],
    ["a time without --failed", ["paid", "--since", "1d"], /belong to --failed/],
    ["a time that is none", ["--failed", "--since", "soon"], /--since must be an age/],
    ["a run id alone", ["--failed", "--run-id", "x"], /--run-id belongs to/],
    ["a run id of a file", ["paid", "--file", exported, "--run-id", "x"], /--run-id belongs to/],
    ["no such file", ["--file", "/nowhere.json"], /there is no such file/],
    ["a folder of histories", ["--file", folder], /it is a folder/],
    ["no such workflows", ["--file", exported, "--workflows", "/nowhere.ts"], /cannot be bundled/],
  ])("%s", async (_, args, message) => {
    const called = await starter(["runs", "replay", ...args]);
    expect(called.stderr).toMatch(message);
    expect(called.stdout).toBe("");
    expect(called.exitCode).toBe(2);
  });

  it("a file that holds no history, without repeating it", async () => {
    const name = await file("secret.json", { events: [], iban: beneficiary.iban });
    const called = await starter(["runs", "replay", "--file", name]);
    expect(called.exitCode).toBe(2);
    expect(called.stderr).toMatch(/holds no history that can be replayed: .*starter runs export/);
    expect(called.stderr).not.toContain(beneficiary.iban);
  });

  it("a file that is compressed, empty, or holds a part of a history", async () => {
    const compressed = join(folder, "run.json.gz");
    await writeFile(compressed, gzipSync(await readFile(exported)));
    const part = await file("part.json", await historyWith('"eventId": "4"', '"eventId": "5"'));
    const refusals = [
      [compressed, /run\.json\.gz is compressed by gzip: unpack it first/],
      [await file("empty.json", ""), /empty\.json is empty/],
      [part, /its event 4 is missing/],
    ] as const;
    for (const [name, message] of refusals) {
      const called = await starter(["runs", "replay", "--file", name]);
      expect(called.stderr).toMatch(message);
      expect(called.exitCode).toBe(2);
    }
    const ofInput = await starter(["runs", "replay", "--file", "-"], { stdin: "{}" });
    expect(ofInput.stderr).toMatch(/^error Standard input holds no history/);
  });

  it("a server that cannot be reached", async () => {
    const env = { TEMPORAL_ADDRESS: "127.0.0.1:1" };
    const called = await starter(["runs", "replay", "paid"], { env });
    expect(called.exitCode).toBe(3);
    expect(called.stderr).toContain("Cannot connect to Temporal");
  });
});
