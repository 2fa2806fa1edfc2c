import { defaultAssumptions } from "@durable-payments/api-core";
import type { Progress } from "@durable-payments/protocol";
import {
  anyText,
  csv,
  fields,
  holding,
  ID,
  jsonLines,
  like,
  listWith,
  makeRows,
  options,
  tooWide,
} from "@durable-payments/tools/test-data";
import { readFile } from "node:fs/promises";
import { describe, expect, it, vi } from "vitest";
import { makeRig } from "./support/rig.ts";
import { jsonOf } from "./support/starter.ts";

// Hundreds of payouts on a busy machine take their time.

const { file, service, simulator, starter, temporal } = await makeRig(
  { settleAfter: "100 millis", balances: { EUR: "1000000.00" } },
  {
    // A send that a busy machine answers late is not in doubt, or not for minutes.
    PAYMENTS_ASSUMPTIONS: JSON.stringify({ listLagSeconds: 0 }),
    PAYMENTS_REQUEST_TIMEOUT_MS: "20000",
  },
);

const POLLING = { timeout: 120_000, interval: 100 };

const payoutsOf = async (prefix: string) => {
  const { payouts } = await simulator.state();
  return payouts.filter(({ payout_reference }) => payout_reference?.includes(prefix));
};

const rowsOf = (prefix: string, count: number, change?: Parameters<typeof makeRows>[2]) =>
  makeRows(prefix, count, (index) => {
    const changed = change?.(index) ?? {};
    const [row] = makeRows(prefix, 1);
    const payout = { ...row!.payout, payout_reference: prefix, amount: `${index + 1}.00` };
    return { ...changed, payout: { ...payout, ...changed.payout } };
  });

/** Rows to a beneficiary that exists, who would otherwise be as much work as the payout. */
const rowsToKnown = async (...given: Parameters<typeof rowsOf>) => {
  const payee = await file("payee.csv", csv(rowsOf("payee", 1)));
  await importFile(payee, "--wait");
  const beneficiary_id = (await simulator.state()).beneficiaries[0]?.beneficiary_id ?? "";
  return rowsOf(...given).map(({ beneficiary: _, ...row }) => ({ ...row, beneficiary_id }));
};

const importFile = (name: string, ...more: ReadonlyArray<string>) =>
  starter(["payouts", "import", name, "--json", ...more]);

const batchOf = (said: string): string => /payouts\/[0-9a-f]{32}/.exec(said)?.[0] ?? "";

describe("300 rows", () => {
  it("are paid once each, and those refused and asking are reported", async () => {
    const asking = { ...options, onRefusal: "ask" };
    const rows = await rowsToKnown("all", 300, (index) => {
      // The beneficiary's currency must be the payout's.
      if (index === 100) return { payout: { currency: "USD" }, options: asking };
      if (index % 100 === 50) return { payout: { payout_reference: "FAIL all" } };
      return index === 7 ? { payout: { currency: "USD" } } : {};
    });
    const name = await file("all.csv", csv(rows));
    const result = name.replace("all.csv", "all-result.csv");
    const waiting = importFile(name, "--wait", "--result", result, "--by", "Ada");
    const asked = temporal.client.workflow.getHandle("payout/all-100");
    await expect
      .poll(async () => {
        const progress = await asked.query<Progress>("progress").catch(() => undefined);
        return progress?.stage;
      }, POLLING)
      .toBe("needsAttention");
    const amend = await file("amend.json", { payout: { currency: "EUR" } });
    const { attention } = await asked.query<Progress>("progress");
    const question = ["--question", attention?.question ?? ""];
    const resolve = ["resolve", "payout/all-100", ...question, "--by", "Bob", "--amend", amend];
    // While hundreds of runs begin, Temporal may answer too late: then it is looked at before it is said again.
    await vi.waitFor(async () => {
      const { stage } = await asked.query<Progress>("progress");
      const { exitCode } = stage === "needsAttention" ? await starter(resolve) : { exitCode: 0 };
      expect(exitCode).toBe(0);
    }, POLLING);

    const ended = await waiting;
    expect(ended.exitCode).toBe(1);
    const report = jsonOf(ended);
    expect(report).toMatchObject({
      workflowId: like(/^payouts\/[0-9a-f]{32}$/),
      runId: ID,
      state: "completed",
      startedBy: "Ada",
      rows: 300,
      // One was amended from USD to EUR.
      totals: { EUR: "45142.00", USD: "8.00" },
      fileTotals: { EUR: "45041.00", USD: "109.00" },
      amendedRows: 1,
      progress: { done: 300, started: 300, known: 0, conflicting: 0 },
      runs: { completed: 296, failed: 4, attention: 0, waiting: 0, running: 0 },
      resultFile: result,
    });
    expect(ended.stdout + ended.stderr).not.toContain("DE89370400440532013000");
    expect(await payoutsOf("all")).toHaveLength(299);

    const lines = (await readFile(result, "utf8")).trimEnd().split("\n");
    expect(lines).toHaveLength(301);
    expect(lines[0]).toBe(
      "row,key,workflow_id,run_id,payout_id,state,reason,amount,currency,reference,beneficiary,completed_at,failure",
    );
    expect(lines[1]).toMatch(
      /^2,all-0,payout\/all-0,[0-9a-f-]{36},[0-9a-f-]{36},completed,,\d+\.\d\d,EUR,[^,]+,[^,]+,\d{4}-\d\d-\d\dT[^,]+,$/,
    );
    expect(lines[8]).toMatch(
      /^9,all-7,payout\/all-7,[0-9a-f-]{36},,failed,.*currency must be the same/,
    );
    expect(lines[51]).toMatch(/^52,all-50,.*,[0-9a-f-]{36},failed,"?The payout .* ended as failed/);

    const again = await importFile(name, "--wait");
    expect(again.exitCode).toBe(1);
    expect(again.stderr).toContain("Each row of this file has its run already");
    const { resultFile: _, ...reported } = report;
    expect(jsonOf(again)).toEqual(reported);
    expect(await payoutsOf("all")).toHaveLength(299);
  });
});

describe("a changed file", () => {
  const prefix = "changed";

  it("pays the rows that are new, and shows which they are", async () => {
    const first = await file("first.jsonl", jsonLines(rowsOf(prefix, 10)));
    expect(await importFile(first, "--wait")).toMatchObject({ exitCode: 0 });
    const second = await file("second.csv", csv(rowsOf(prefix, 13)));
    const dry = await starter(["payouts", "import", second, "--dry-run", "--json"], {
      env: service,
    });
    expect(dry).toMatchObject({ exitCode: 0 });
    expect(jsonOf(dry)).toEqual({
      status: "checked",
      workflowId: like(/^payouts\//),
      rows: 13,
      totals: { EUR: "91.00" },
      funds: [{ currency: "EUR", total: "91.00", available: like(/^\d+\.\d\d$/), isEnough: true }],
      known: 10,
      new: 3,
      newTotals: { EUR: "36.00" },
      newRows: "12-14",
      paidBefore: 0,
      inDoubt: 0,
      rejected: [],
      retentionMs: 86_400_000,
    });
    expect(await payoutsOf(prefix)).toHaveLength(10);
    const paid = await importFile(second, "--wait");
    expect(paid.exitCode).toBe(0);
    expect(paid.stderr).toContain("10 rows are known; 3 are new: lines 12-14.");
    expect(paid.stderr.replaceAll(/\s+/g, " ")).toContain("3 of 13 rows, in all 36.00 EUR.");
    expect(jsonOf(paid)).toMatchObject({
      progress: { started: 3, known: 10 },
      runs: { completed: 3 },
    });
    expect(await payoutsOf(prefix)).toHaveLength(13);
  });

  it("with nothing new starts nothing", async () => {
    const part = await file("part.csv", csv(rowsOf(prefix, 4)));
    const result = part.replace("part.csv", "part.jsonl");
    const called = await importFile(part, "--result", result);
    expect(called.exitCode).toBe(0);
    expect(jsonOf(called)).toMatchObject({ status: "nothingNew", rows: 4, known: 4, new: 0 });
    const outcomes = (await readFile(result, "utf8")).trimEnd().split("\n");
    expect(outcomes.map((line) => JSON.parse(line) as unknown)).toEqual(
      [0, 1, 2, 3].map((n) => ({
        row: n + 2,
        key: `${prefix}-${n}`,
        workflow_id: `payout/${prefix}-${n}`,
        run_id: ID,
        payout_id: ID,
        state: "completed",
        reason: "",
        amount: anyText,
        currency: "EUR",
        reference: anyText,
        beneficiary: anyText,
        completed_at: like(/^\d{4}-\d\d-\d\dT/),
        failure: "",
      })),
    );
  });

  it("whose key stands for another payment is refused before anything is sent", async () => {
    const rows = rowsOf(prefix, 20, (index) =>
      index === 3 ? { payout: { amount: "99.00" } } : {},
    );
    const name = await file("conflict.csv", csv(rows));
    const called = await importFile(name);
    expect(called.exitCode).toBe(2);
    expect(jsonOf(called)).toEqual({
      error: {
        type: "BadInput",
        message: "The file has one fault. Nothing was started.",
        faults: [
          {
            field: "row 5, key:",
            problem: `${prefix}-3 was used for another payment, payout/${prefix}-3`,
            row: 5,
            column: "key",
          },
        ],
      },
    });
    expect(await payoutsOf(prefix)).toHaveLength(13);
  });
});

it("an import that was interrupted goes on where it stopped", async () => {
  const rows = await rowsToKnown("interrupted", 260);
  const name = await file("interrupted.csv", csv(rows));
  const first = jsonOf(await importFile(name, "--dry-run"));
  const batch = String(first["workflowId"]);
  // What an import leaves that is killed while it writes: a chunk, and no batch.
  const { checkBatchFile, chunksAgain } = await import("@durable-payments/operations/batch");
  for await (const chunk of chunksAgain(await checkBatchFile(name, defaultAssumptions))) {
    if (chunk.number > 1) break;
    await temporal.client.workflow.start("payoutBatchChunk", {
      workflowId: `${batch}/chunk/${chunk.number}`,
      taskQueue: "payments",
      args: [chunk.rows],
      startDelay: "365 days",
    });
  }
  const ended = await importFile(name, "--wait");
  expect(ended.exitCode).toBe(0);
  expect(jsonOf(ended)).toMatchObject({ workflowId: batch, runs: { completed: 260 } });
  expect(await payoutsOf("interrupted")).toHaveLength(260);
});

describe("commands", () => {
  it("pause a batch, resume it, and end it", async () => {
    // Sends are paused, so that a window is all that is ever under way.
    await starter(["pause", "a test", "--by", "Ada"]);
    const name = await file("commands.csv", csv(rowsOf("commands", 30)));
    const started = await importFile(name, "--window", "5", "--by", "Ada");
    expect(started.exitCode).toBe(0);
    const batch = batchOf(started.stderr);
    const command = (what: string, ...more: ReadonlyArray<string>) =>
      starter(["payouts", what, batch, "--by", "Bob", "--json", ...more]);
    const status = async () => jsonOf(await starter(["payouts", "status", batch, "--json"]));
    await expect.poll(async () => (await status())["runs"], POLLING).toMatchObject({ running: 5 });

    const paused = await command("pause", "--why", "a bad file");
    expect(jsonOf(paused)).toEqual({ workflowId: batch, runId: ID, status: "paused" });
    const twice = await command("pause");
    expect([twice.exitCode, jsonOf(twice)]).toEqual([
      2,
      { error: { type: "BadInput", message: "It is paused already, by Bob." } },
    ]);
    await expect
      .poll(async () => (await status())["progress"], POLLING)
      .toMatchObject({
        done: 5,
        started: 5,
        paused: { by: "Bob", why: "a bad file", since: anyText },
      });
    // What starts rows hears of the pause by its next heartbeat, and goes on until then.
    const pending = async () => {
      const { raw } = await temporal.client.workflow.getHandle(batch).describe();
      return raw.pendingActivities?.length ?? 0;
    };
    await expect.poll(pending, POLLING).toBe(0);
    await starter(["resume", "--by", "Ada"]);
    await expect
      .poll(async () => (await status())["runs"], POLLING)
      .toMatchObject({ completed: 5, running: 0 });
    const person = await starter(["payouts", "status", batch]);
    expect(person).toMatchObject({ exitCode: 0, stderr: "" });
    expect(person.stdout).toMatch(/paused +by Bob, .* UTC: a bad file/);
    expect(person.stdout).toContain("30: 5 started, 25 not started");
    const states = async () => {
      const all = await Promise.all([
        starter(["payouts", "status", batch, "--json"]),
        starter(["status", batch, "--json"]),
        starter(["runs", "show", batch, "--json"]),
        starter(["runs", "list", "--find", batch, "--json"]),
      ]);
      const [report, status, shown, listed] = all.map(jsonOf);
      const runs = (listed?.["runs"] ?? []) as ReadonlyArray<Readonly<Record<string, unknown>>>;
      return [report, status, shown, ...runs].map((run) => run?.["state"]);
    };
    expect(await states()).toEqual(Array(4).fill("paused"));
    const offers = (await starter(["runs", "show", batch])).stdout.replaceAll(/[\s\\]+/g, " ");
    expect(offers).toContain(`starter payouts resume ${batch} --by NAME`);
    const again = await importFile(name, "--by", "Carol", "--approve-above", "1000.00");
    expect(again.stderr.replaceAll(/\s+/g, " ")).toContain(
      `${batch}, started by Ada, without an approval. This import, by Carol, with an approval above 1000.00, has started nothing.`,
    );
    const listed = async () => {
      const { batches } = jsonOf(await starter(["payouts", "list", "--since", "1h", "--json"]));
      return (batches as ReadonlyArray<{ readonly workflowId: string }>).find(
        ({ workflowId }) => workflowId === batch,
      );
    };
    expect(await listed()).toEqual({
      workflowId: batch,
      runId: ID,
      file: "commands.csv",
      rows: 30,
      totals: { EUR: anyText },
      fileTotals: null,
      amendedRows: 0,
      known: null,
      runs: fields({ completed: 5, failed: 0 }),
      state: "paused",
      startedBy: anyText,
      startedAt: anyText,
      closedAt: null,
    });
    const forPerson = await starter(["payouts", "list"]);
    expect(forPerson.stdout).toContain(
      `${batch}\n    commands.csv: 30 rows; total of the file: 465.00 EUR\n    paused; payouts: 5 completed; 25 rows not started by it\n`,
    );
    expect(tooWide(forPerson.stdout)).toEqual([]);
    expect(tooWide(person.stdout)).toEqual([]);

    expect(jsonOf(await command("cancel"))).toMatchObject({ status: "cancelled" });
    const ended = await starter(["payouts", "status", batch, "--wait", "--json"]);
    expect(ended.exitCode).toBe(1);
    expect(jsonOf(ended)).toMatchObject({
      state: "cancelled",
      progress: { done: 5, cancelled: { by: "Bob" } },
      runs: { completed: 5 },
    });
    expect(await payoutsOf("commands")).toHaveLength(5);
    await expect.poll(states, POLLING).toEqual(Array(4).fill("cancelled"));

    // The same file once more pays the rows that were not started.
    const rest = await importFile(name, "--wait");
    expect(rest.exitCode).toBe(0);
    expect(rest.stderr).toContain("5 rows are known; 25 are new: lines 7-31.");
    expect(await payoutsOf("commands")).toHaveLength(30);
  });

  it("are not taken for what is no batch", async () => {
    const calls = await Promise.all([
      starter(["payouts", "status", "payout/commands-0", "--json"]),
      starter(["payouts", "status", "payouts/nobody", "--json"]),
    ]);
    for (const [index, message] of ["not a batch", "no run with the id"].entries()) {
      expect(calls[index]?.exitCode).toBe(2);
      expect(calls[index]?.stdout).toContain(message);
    }
  });
});

it("a total above the limit waits for a second person", async () => {
  const name = await file("approval.csv", csv(rowsOf("approval", 3)));
  const waiting = importFile(name, "--wait", "--by", "Ada", "--approve-above", "5.99");
  const waitsFor = async () => {
    const { runs } = jsonOf(await starter(["attention", "--json"])) as {
      readonly runs: ReadonlyArray<{
        readonly workflowId: string;
        readonly type: string;
        readonly approval?: { readonly hash: string };
      }>;
    };
    return runs.find(({ type }) => type === "payoutBatch");
  };
  await expect.poll(waitsFor, POLLING).toMatchObject({
    approval: fields({
      startedBy: "Ada",
      // Whether the payee was paid before depends on the tests before this one.
      payment: fields({ file: "approval.csv", rows: 3, EUR: "6.00", payees: 1 }),
    }),
  });
  expect(await payoutsOf("approval")).toEqual([]);
  const { approval, workflowId } = (await waitsFor())!;
  const approve = ["approve", workflowId, "--by", "Bob", "--hash", approval!.hash];
  expect(await starter(approve)).toMatchObject({ exitCode: 0 });
  expect(await waiting).toMatchObject({ exitCode: 0 });
  expect(await payoutsOf("approval")).toHaveLength(3);
});

it("a run that is terminated by hand holds no slot", async () => {
  await starter(["pause", "a test", "--by", "Ada"]);
  const name = await file("slots.csv", csv(rowsOf("slots", 3)));
  const started = await importFile(name, "--window", "1");
  const batch = batchOf(started.stderr);
  const first = temporal.client.workflow.getHandle("payout/slots-0");
  // Terminated before the pause has held its send back, it might have sent.
  const note = async () =>
    (await first.query<Progress>("progress").catch(() => undefined))?.steps.at(-1)?.note;
  await expect.poll(note, POLLING).toContain("paused");
  await first.terminate("by hand");
  await starter(["resume", "--by", "Ada"]);
  const result = name.replace("slots.csv", "slots-result.jsonl");
  const ended = await starter(["payouts", "status", batch, "--wait", "--result", result, "--json"]);
  expect(ended.exitCode).toBe(1);
  expect(jsonOf(ended)).toMatchObject({ runs: { completed: 2, terminated: 1 } });
  const outcomes = (await readFile(result, "utf8")).trimEnd().split("\n");
  expect(outcomes.map((line) => JSON.parse(line) as unknown)).toEqual(
    listWith(
      fields({ key: "slots-0", state: "terminated", reason: "by hand" }),
      fields({ key: "slots-2", state: "completed" }),
    ),
  );
});

it("a row whose run was cancelled after its payout was created reports it", async () => {
  await simulator.addFault({ kind: "slow", operation: "createPayout", milliseconds: 3_000 });
  const name = await file("ended.csv", csv(rowsOf("ended", 1)));
  const started = await importFile(name);
  const created = async () => (await payoutsOf("ended")).map(({ payout_id }) => payout_id);
  await expect.poll(created, POLLING).toHaveLength(1);
  const [payout_id = ""] = await created();
  await simulator.setPayoutStatus(payout_id, "in_review");
  const run = temporal.client.workflow.getHandle("payout/ended-0");
  const idsOf = async () => (await run.query<Progress>("progress").catch(() => undefined))?.ids;
  await expect.poll(idsOf, POLLING).toMatchObject({ payout_id });
  await run.cancel();
  const result = name.replace("ended.csv", "ended-result.jsonl");
  const batch = batchOf(started.stderr);
  await starter(["payouts", "status", batch, "--wait", "--result", result, "--json"]);
  expect(JSON.parse(await readFile(result, "utf8"))).toMatchObject({
    payout_id,
    state: "cancelled",
    reason: like(
      /^The run was cancelled .*\. The payout \S+ of .* EUR had been made, and stands\.$/,
    ),
  });
  const failure = {
    message: like(/ The payout \S+ of \d+\.\d\d EUR had been made, and stands\.$/),
    details: { payout_id },
  };
  const one = "payout/ended-0";
  for (const command of [
    ["status", one],
    ["watch", one],
    ["runs", "show", one],
  ]) {
    expect(jsonOf(await starter([...command, "--json"]))).toMatchObject({ failure });
  }
  const listed = jsonOf(await starter(["runs", "list", "--find", one, "--json"]));
  expect(listed).toMatchObject({ runs: [{ workflowId: one, failure }] });
});

it("a row whose run was terminated while it paid reports that it may have been paid", async () => {
  await simulator.addFault({ kind: "slow", operation: "createPayout", milliseconds: 15_000 });
  const name = await file("doubt.csv", csv(rowsOf("doubt", 1)));
  const started = await importFile(name);
  await expect.poll(() => payoutsOf("doubt"), POLLING).toHaveLength(1);
  await temporal.client.workflow.getHandle("payout/doubt-0").terminate("by hand");
  const result = name.replace("doubt.csv", "doubt-result.jsonl");
  const batch = batchOf(started.stderr);
  await starter(["payouts", "status", batch, "--wait", "--result", result, "--json"]);
  expect(JSON.parse(await readFile(result, "utf8"))).toMatchObject({
    payout_id: "",
    state: "terminated",
    reason: like(
      /^by hand\. It may have been paid: the run does not know whether createPayout of .* EUR was carried out\. See it: .*starter status payout\/doubt-0$/,
    ),
    failure: "Terminated",
  });
  const failure = { message: like(/^by hand\. It may have been paid: the run does not know/) };
  const one = "payout/doubt-0";
  for (const command of [
    ["status", one],
    ["watch", one],
    ["runs", "show", one],
  ]) {
    expect(jsonOf(await starter([...command, "--json"]))).toMatchObject({ failure });
  }
  const listed = jsonOf(await starter(["runs", "list", "--in-doubt", "--find", one, "--json"]));
  expect(listed).toMatchObject({ runs: [{ workflowId: one, failure }] });
  const { stdout } = await starter(["runs", "show", one]);
  expect(stdout).toContain("In doubt");
  expect(stdout).toContain(`settle ${one}`);
});

it("a row that was retried amended counts once while its batch goes on, with what is sent now", async () => {
  await simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  await simulator.addFault({ kind: "slow", operation: "createPayout", milliseconds: 3_000 });
  const rows = rowsOf("once", 2, () => ({ payout: { amount: "4.00" } }));
  const started = await importFile(await file("once.csv", csv(rows)), "--window", "1");
  const batch = batchOf(started.stderr);
  const created = async () => (await payoutsOf("once")).map(({ payout_id }) => payout_id);
  await expect.poll(created, POLLING).toHaveLength(1);
  // It is open to the end of this test.
  await simulator.setPayoutStatus((await created())[0] ?? "", "in_review");
  const patch = await file("once.json", { payout: { amount: "1.50" } });
  await expect(temporal.client.workflow.getHandle("payout/once-0").result()).rejects.toThrow();
  const retried = await starter(["runs", "retry", "payout/once-0", "--amend", patch]);
  expect(retried.exitCode).toBe(0);
  await temporal.client.workflow.getHandle("payout/once-0").result();
  const report = async () => jsonOf(await starter(["payouts", "status", batch, "--json"]));
  await expect.poll(report, POLLING).toMatchObject({
    state: "waiting",
    totals: { EUR: "5.50" },
    fileTotals: { EUR: "8.00" },
    amendedRows: 1,
    progress: { rows: 2, started: 2 },
    runs: { completed: 1, failed: 0, waiting: 1 },
  });
  const result = await file("once-result.jsonl", "");
  await starter(["payouts", "status", batch, "--result", result]);
  const [first] = (await readFile(result, "utf8")).split("\n");
  expect(JSON.parse(first ?? "")).toMatchObject({ state: "completed", amount: "1.50" });
  // A file with what it pays now is refused, and says why.
  const now = rowsOf("once", 1, () => ({ payout: { amount: "1.50" } }));
  const refused = await importFile(await file("once-now.csv", csv(now)));
  expect(refused.exitCode).toBe(2);
  expect(jsonOf(refused)).toMatchObject({
    error: {
      faults: [
        {
          problem:
            "once-0 was used for another payment, payout/once-0, and amended to this one since: leave the row out",
        },
      ],
    },
  });
  await temporal.client.workflow.getHandle("payout/once-1").terminate("by the test");
});

it("every command gives one account of a batch whose row was retried amended after its end", async () => {
  await simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  const rows = rowsOf("anew", 2, () => ({ payout: { amount: "4.00" } }));
  const started = await importFile(await file("anew.csv", csv(rows)), "--window", "1", "--wait");
  const batch = batchOf(started.stderr);
  const patch = await file("anew.json", { payout: { amount: "1.50" } });
  const retried = await starter(["runs", "retry", "payout/anew-0", "--amend", patch]);
  expect(retried.exitCode).toBe(0);
  await temporal.client.workflow.getHandle("payout/anew-0").result();
  const report = async (...args: ReadonlyArray<string>) =>
    jsonOf(await starter([...args, "--json"]));
  const now = { totals: { EUR: "5.50" }, runs: { completed: 2, failed: 0 } };
  await expect
    .poll(() => report("payouts", "status", batch), POLLING)
    .toMatchObject({ ...now, amendedRows: 1 });
  expect(await report("status", batch)).toMatchObject({ batch: now });
  expect(await report("runs", "show", batch)).toMatchObject({ batch: now });
  expect(await report("runs", "list", "--find", batch)).toMatchObject({
    runs: [{ payouts: { totals: now.totals } }],
  });
  for (const command of [
    ["status", batch],
    ["runs", "show", batch],
  ]) {
    const { stdout } = await starter(command);
    expect(stdout).toMatch(/Payouts by now\n.*8\.00 EUR\n.*5\.50 EUR; 1 row was amended/);
    expect(stdout).toContain("Result at its end, before any retry");
  }

  // Of another file that has the same rows, too.
  const more = [...rows, ...rowsOf("anew-more", 1, () => ({ payout: { amount: "2.00" } }))];
  const other = await importFile(await file("anew-more.csv", csv(more)), "--wait");
  const again = batchOf(other.stderr);
  expect(await report("payouts", "status", again)).toMatchObject({
    totals: { EUR: "7.50" },
    fileTotals: { EUR: "10.00" },
    amendedRows: 1,
    others: { completed: 2 },
  });
  const { stdout: list } = await starter(["payouts", "list"]);
  expect(list).toMatch(/anew-more\.csv: 3 rows.*\n.*1 completed; 2 rows of other files\n/);
});

it("rows that other files started are reported as they stand", async () => {
  const failing = await file("failing.csv", csv(rowsOf("shared", 1)));
  const imported = importFile(failing, "--wait");
  const created = async () => (await payoutsOf("shared")).map(({ payout_id }) => payout_id);
  await expect.poll(created, POLLING).toHaveLength(1);
  const [payout_id = ""] = await created();
  await simulator.setPayoutStatus(payout_id, "failed");
  expect((await imported).exitCode).toBe(1);

  const both = await file("both.csv", csv(rowsOf("shared", 2)));
  const called = await importFile(both, "--wait");
  expect(called.exitCode).toBe(1);
  expect(jsonOf(called)).toMatchObject({
    progress: { started: 1, known: 1 },
    runs: { completed: 1, failed: 0 },
    others: { completed: 0, failed: 1 },
  });
  const status = await starter(["payouts", "status", batchOf(called.stderr)]);
  expect(status.exitCode).toBe(1);
  expect(status.stdout).toMatch(
    /1 started, 1 of other files\n.*1 completed\n.*other files +1 failed/s,
  );

  const nothingNew = await importFile(await file("known.jsonl", jsonLines(rowsOf("shared", 2))));
  expect(nothingNew.exitCode).toBe(1);
  expect(jsonOf(nothingNew)).toMatchObject({
    status: "nothingNew",
    others: { completed: 1, failed: 1 },
  });
});

it("bad flags are reported before anything is read", async () => {
  const calls = await Promise.all([
    importFile("nowhere.csv", "--window", "0"),
    importFile("nowhere.csv", "--approve-above", "much"),
    importFile("nowhere.csv", "--result", "result.xlsx"),
  ]);
  const messages = ["--window must be", "--approve-above must be", "The result file must end in"];
  for (const [index, call] of calls.entries()) {
    expect(call.exitCode).toBe(2);
    expect(jsonOf(call)).toMatchObject({ error: { message: holding(messages[index]!) } });
  }
});
