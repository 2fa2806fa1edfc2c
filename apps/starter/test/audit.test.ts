import {
  anyText,
  beneficiary,
  csv,
  fields,
  holding,
  ID,
  like,
  listWith,
  makeRows,
  options,
  payout,
  tooWide,
} from "@durable-payments/tools/test-data";
import type { AuditEntry } from "@durable-payments/protocol";
import { expect, it, vi } from "vitest";
import { makeRig } from "./support/rig.ts";
import { jsonOf } from "./support/starter.ts";

// A busy machine takes its time.

const { approvalHash, awaitStage, file, found, simulator, starter, stopWorker, temporal } =
  await makeRig({ settleAfter: "100 millis", balances: { EUR: "1000.00" } });
const { workflow } = temporal.client;

const begin = async (id: string, amount: string, more: object = {}) => {
  const name = await file(`${id}.json`, {
    beneficiary: { ...beneficiary, nickname: `Supplier of ${id}` },
    payout: { ...payout, amount },
    options: { ...options, ...more },
  });
  const begun = await starter(["payout", "--file", name, "--id", id, "--by", "Ada"]);
  expect(begun.exitCode).toBe(0);
};

const done = async (...args: ReadonlyArray<string>) => {
  const { exitCode, stderr } = await starter(args);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
};

const auditOf = async (id: string) => {
  const { entries, runIds } = jsonOf(await starter(["audit", id, "--json"]));
  const all = entries as ReadonlyArray<AuditEntry>;
  expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).toSorted());
  return {
    runs: (runIds as ReadonlyArray<string>).length,
    people: all
      .filter(({ who }) => who !== "run")
      .map(({ detail = {}, what, who }) => [who, what, detail] as const),
    all,
  };
};

it("holds what people did in all runs of an id, with reasons, and needs no worker", async () => {
  // Asked to end, and terminated.
  for (const [id, command, who] of [
    ["cancelled", "cancel", "Carol"],
    ["terminated", "terminate", "Dan"],
  ] as const) {
    await begin(id, "30.00", { approval: { above: "25" } });
    await awaitStage(id, "awaitApproval");
    const why = `paid by hand, says ${who}`;
    await done("runs", command, id, "--by", who, "--reason", why);
    await workflow
      .getHandle(id)
      .result()
      .catch(() => undefined);
  }

  // Held back by a pause of all sends; refused, retried amended, approved, paid.
  await done("pause", "the bank reports duplicates", "--by", "Eve");
  const second = await starter(["pause", "a test", "--by", "Zoe"]);
  expect(second.stdout).toContain("neither Zoe nor the reason given here is kept");
  await begin("repaired", "60.00", { approval: { above: "55" } });
  await awaitStage("repaired", "awaitApproval");
  const approve = async (by: string) =>
    done("approve", "repaired", "--by", by, "--hash", await approvalHash("repaired"));
  const hash = await approvalHash("repaired");
  await approve("Bob");
  await vi.waitFor(
    async () => {
      const { raw } = await workflow.getHandle("repaired").describe();
      expect(raw.pendingActivities?.[0]?.activityType?.name).toBe("awaitResume");
    },
    { timeout: 120_000 },
  );
  const late = ["approve", "repaired", "--by", "Tom", "--hash", hash, "--reject", "a bad invoice"];
  const { exitCode, stderr } = await starter(late);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: like(/APPROVED by Bob.*starter runs cancel repaired/s),
  });
  await simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  await done("resume", "--by", "Fay");
  await expect(workflow.getHandle("repaired").result()).rejects.toThrow();
  const patch = await file("patch.json", { payout: { amount: "59.00" } });
  const retry = ["runs", "retry", "repaired", "--by", "Gus", "--reason", "wrong amount"];
  await done(...retry, "--amend", patch);
  await awaitStage("repaired", "awaitApproval (2)");
  await approve("Hal");
  await workflow.getHandle("repaired").result();
  await found('WorkflowId = "repaired"', 2);
  await found('WorkflowId STARTS_WITH "pause/" AND ExecutionStatus = "Terminated"');

  // A batch that was paused, resumed and cancelled.
  const rows = await file("rows.csv", csv(makeRows("row", 6)));
  await done("pause", "a test", "--by", "Eve");
  const imported = await starter([
    "payouts",
    "import",
    rows,
    "--by",
    "Ada",
    "--window",
    "1",
    "--json",
  ]);
  const batch = String(jsonOf(imported)["workflowId"]);
  await done("payouts", "pause", batch, "--by", "Ivy", "--why", "a bad file");
  await done("payouts", "resume", batch, "--by", "Jim");
  await done("payouts", "cancel", batch, "--by", "Kim", "--why", "a worse file");
  // What starts rows has heard of it: until then it goes on with those that may be sent.
  await found(`WorkflowId = "${batch}" AND PaymentStage = "awaitPayouts"`);
  await done("resume", "--by", "Eve");
  await workflow.getHandle(batch).result();

  await stopWorker();
  const byCarol = "The run was cancelled by Carol: paid by hand, says Carol";
  const state = await starter(["status", "cancelled", "--json"]);
  expect(jsonOf(state)).toMatchObject({ askedToEnd: null, failure: { message: byCarol } });
  const listed = await starter(["runs", "list", "--find", "cancelled"]);
  expect(listed.stdout.replaceAll(/\s+/g, " ")).toContain(byCarol);
  const ended = await starter(["runs", "show", "cancelled", "--json"]);
  expect(jsonOf(ended)).toMatchObject({ askedToEnd: null, failure: { message: byCarol } });
  expect((await auditOf("cancelled")).people).toEqual([
    ["Ada", "started", { amount: "30.00", currency: "EUR" }],
    ["Carol", "asked to end", { reason: "paid by hand, says Carol" }],
  ]);
  expect((await auditOf("terminated")).people).toEqual([
    ["Ada", "started", { amount: "30.00", currency: "EUR" }],
    ["Dan", "terminated", { reason: "paid by hand, says Dan" }],
  ]);
  const repaired = await auditOf("repaired");
  expect(repaired.runs).toBe(2);
  expect(repaired.people).toEqual([
    ["Eve", "paused", { why: "the bank reports duplicates" }],
    ["Ada", "started", { amount: "60.00", currency: "EUR" }],
    ["Bob", "approved", {}],
    ["Fay", "resumed", {}],
    ["Gus", "retried", { reason: "wrong amount", fields: "payout.amount" }],
    ["Hal", "approved", {}],
  ]);
  expect(repaired.all).toEqual(
    listWith(
      fields({ step: "createPayout", what: "sending", key: anyText }),
      fields({ step: "createPayout", what: "refused", detail: { reason: holding("refused") } }),
      fields({ step: "createPayout", what: "known", detail: { payout_id: ID } }),
      fields({ who: "run", what: "completed" }),
    ),
  );
  expect((await auditOf(batch)).people).toEqual([
    ["Ada", "started", {}],
    ["Ivy", "paused", { why: "a bad file" }],
    ["Jim", "resumed", {}],
    ["Kim", "cancelled", { why: "a worse file" }],
  ]);
  const cancelled = (await auditOf(batch)).all;
  expect(cancelled).toEqual(listWith(fields({ who: "run", what: "ended, cancelled" })));
  const again = await starter(["runs", "retry", batch, "--by", "Gus"]);
  expect(again).toMatchObject({ exitCode: 2, stderr: holding("was cancelled: no retry") });
  const status = jsonOf(await starter(["payouts", "status", batch, "--json"]));
  expect(status).toMatchObject({
    state: "cancelled",
    progress: { cancelled: { by: "Kim", why: "a worse file" } },
  });
  const person = await starter(["audit", "repaired"]);
  expect(person).toMatchObject({ exitCode: 0, stderr: "" });
  expect(person.stdout).toMatch(/retried by Gus\n {4}reason wrong amount, fields payout.amount/);
  expect(person.stdout).not.toContain("DE8937");
  expect(tooWide(person.stdout)).toEqual([]);
});
