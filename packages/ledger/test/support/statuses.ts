import { afterAll, beforeAll, expect, it } from "vitest";
import type {
  EndState,
  Ledger,
  PayoutOutcome,
  RunStatus,
  Standing,
  WriteRow,
} from "../../src/index.ts";
import { ADA, decisionOf, made, nameOf, runOf, saving, startOf } from "./rows.ts";

const APPROVAL = {
  id: "q-1",
  kind: "approval",
  reason: "why",
  candidates: [],
  account: null,
} as const;

/** How a write gets each standing. */
const ROWS: Readonly<Record<Standing, Partial<WriteRow>>> = {
  open: { state: "ready" },
  asking: { state: "asking" },
  approval: { state: "ready", question: { ...APPROVAL, since: 0 } },
  unknown: { state: "unknown", doubt: 1 },
  refused: { state: "refused" },
  stopped: { state: "ended" },
  undone: { state: "undone" },
  made: { state: "done" },
  completed: { state: "done" },
  failed: { state: "done" },
  returned: { state: "done" },
};

const OUTCOMES: ReadonlyArray<string> = ["completed", "failed", "returned"];
const ENDS: ReadonlyArray<EndState | null> = [
  null,
  "succeeded",
  "failed",
  "timedOut",
  "terminated",
  "cancelled",
  "missing",
];

interface Drawn {
  readonly type: string;
  readonly own: ReadonlyArray<Standing>;
  readonly ofChild?: Standing;
  readonly end: EndState | null;
  readonly isStopped: boolean;
}

/** The rule of a status, said a second time. */
const expectedOf = ({ end, isStopped, ofChild, own, type }: Drawn): RunStatus => {
  const all = ofChild === undefined ? own : [...own, ofChild];
  for (const asked of ["asking", "approval", "unknown"] as const)
    if (all.includes(asked)) return asked;
  if (own.includes("returned")) return "returned";
  if (own.includes("made")) return "waiting";
  const isOver = end !== null || isStopped;
  if (isOver && type === "payout" && own.includes("completed")) return "succeeded";
  if (isOver && type === "payout" && own.includes("failed")) return "failed";
  if (!isOver) return "running";
  const isPaid = own.includes("completed") || own.includes("failed");
  if (isStopped && !(type === "payout" && isPaid)) return "ended";
  if (end === "succeeded" && type === "payout") return "failed";
  return end ?? "ended";
};

const OWN_STEPS = ["createPayout", "createPayout #2"];

/** What is said of runs is what their writes say, in every order. */
export const describeStatuses = (open: () => Promise<Ledger>): void => {
  let ledger: Ledger;
  let count = 0;
  beforeAll(async () => {
    ledger = await open();
  });
  afterAll(() => ledger.close());

  const write = async (workflowId: string, rootId: string, step: string, standing: Standing) => {
    const name = nameOf({ workflowId, step });
    const id = `${workflowId}-${step}`;
    const row = ROWS[standing];
    const given = row.state === "done" ? { ...made(id), ...row } : row;
    await ledger.transact(name, saving(name, { rootId, ...given }), {
      ownerId: workflowId,
      rootId,
    });
    if (OUTCOMES.includes(standing)) {
      const outcome = standing as PayoutOutcome;
      const seen = { word: standing, outcome, asks: false, problem: null };
      await ledger.sawPayout("account-1", id, seen);
    }
  };

  const statusOf = async (drawn: Drawn, order: number): Promise<RunStatus | undefined> => {
    const workflowId = `status-${++count}`;
    await ledger.recordStart(runOf({ workflowId, type: drawn.type }), startOf());
    const end = () =>
      ledger.recordEnds([
        { workflowId, runId: "r", endState: drawn.end, endedAt: 1, endType: null, endReason: null },
      ]);
    const writes = async () => {
      for (const [at, standing] of drawn.own.entries())
        await write(workflowId, workflowId, OWN_STEPS[at] ?? "", standing);
      if (drawn.ofChild !== undefined)
        await write(`${workflowId}/child`, workflowId, "createPayout", drawn.ofChild);
    };
    const stop = async () => {
      // A stop order before a write would end the write, too.
      if (drawn.isStopped) await ledger.decide(decisionOf({ workflowId, kind: "overrule" }));
    };
    await (order % 2 === 0 ? end().then(writes) : writes().then(end));
    await stop();
    return (await ledger.runs({ workflowIds: [workflowId] }))[0]?.status;
  };

  it("says of a run what its writes, its end and its stop order say, whatever came first", async () => {
    const standings = Object.keys(ROWS) as ReadonlyArray<Standing>;
    const alone = standings.flatMap((standing) =>
      ENDS.map((end): Drawn => ({ type: "payout", own: [standing], end, isStopped: false })),
    );
    const several = standings.flatMap((standing, at): ReadonlyArray<Drawn> => {
      const other = standings[(at * 7 + 3) % standings.length] ?? "open";
      const end = ENDS[at % ENDS.length] ?? null;
      return [
        { type: "payOrders", own: [standing, other], end, isStopped: false },
        { type: "payout", own: [standing, other], end, isStopped: false },
        { type: "payOrders", own: [other], ofChild: standing, end, isStopped: false },
      ];
    });
    const drawn = [...alone, ...several];
    const found = await Promise.all(drawn.map(statusOf));
    expect(drawn.map((one, at) => ({ ...one, status: found[at] }))).toEqual(
      drawn.map((one) => ({ ...one, status: expectedOf(one) })),
    );
  });

  it("says that a run was stopped, unless it had paid", async () => {
    const [unpaid, paid] = [`status-${++count}`, `status-${++count}`];
    for (const workflowId of [unpaid, paid]) {
      await ledger.recordStart(runOf({ workflowId }), startOf());
      await write(workflowId, workflowId, "createPayout", workflowId === paid ? "made" : "open");
      await ledger.decide(decisionOf({ workflowId }));
    }
    const statuses = async () => {
      const runs = await ledger.runs({ workflowIds: [unpaid, paid] });
      return Object.fromEntries(runs.map(({ status, workflowId }) => [workflowId, status]));
    };
    expect(await statuses()).toEqual({ [unpaid]: "ended", [paid]: "waiting" });
    const seen = { word: "completed", outcome: "completed", asks: false, problem: null } as const;
    await ledger.sawPayout("account-1", `${paid}-createPayout`, seen);
    expect(await statuses()).toEqual({ [unpaid]: "ended", [paid]: "succeeded" });
    await ledger.decide(decisionOf({ workflowId: unpaid, kind: "overrule" }));
    expect(await statuses()).toEqual({ [unpaid]: "running", [paid]: "succeeded" });
  });

  it("keeps the outcome of a payout, whatever its row says later, and knows money that came back", async () => {
    const workflowId = `status-${++count}`;
    const name = nameOf({ workflowId });
    const id = `${workflowId}-createPayout`;
    await ledger.recordStart(runOf({ workflowId }), startOf());
    await write(workflowId, workflowId, "createPayout", "completed");
    await ledger.transact(name, saving(name, { isUntold: true }));
    const rowOfIt = async () => (await ledger.rowsOf(workflowId))[0];
    expect(await rowOfIt()).toMatchObject({ standing: "completed", word: "completed" });
    const open = { word: "processing", outcome: null, asks: false, problem: null };
    await ledger.sawPayout("account-1", id, open);
    expect(await rowOfIt()).toMatchObject({ standing: "completed", word: "processing" });
    await ledger.sawPayout("account-1", id, { ...open, word: "reversed", outcome: "failed" });
    expect(await rowOfIt()).toMatchObject({ standing: "returned", word: "reversed" });
    const lines = await ledger.logOf(workflowId);
    const said = lines.flatMap((line) => ("what" in line ? [line.what] : []));
    expect(said).toEqual(["sent", "payout completed", "sent", "payout returned"]);
    expect(await ledger.verify(workflowId)).toMatchObject({ isIntact: true });
  });

  it("asks what a word means, until a person has said it", async () => {
    const workflowId = `status-${++count}`;
    const id = `${workflowId}-createPayout`;
    await write(workflowId, workflowId, "createPayout", "made");
    const seen = { word: "Paid out", outcome: null, asks: true, problem: null };
    await ledger.sawPayout("account-1", id, seen);
    const open = await ledger.openPayouts("account-1");
    expect(open.find(({ madeId }) => madeId === id)).toMatchObject({ wordAsks: true });
    await ledger.decideWord("account-1", " Paid Out", "completed", ADA);
    expect([...(await ledger.words("account-1"))]).toEqual([["paid out", "completed"]]);
    await ledger.sawPayout("account-1", id, { ...seen, outcome: "completed", asks: false });
    const [row] = await ledger.rowsOf(workflowId);
    expect(row).toMatchObject({ standing: "completed", wordAsks: false });
  });

  it("describes a payee by each id of its account", async () => {
    const shown = "Muster GmbH, DE, account ending in 2606";
    const workflowId = `status-${++count}`;
    await ledger.recordStart(runOf({ workflowId, payee: "mark-77", shown }), startOf());
    await ledger.rememberPayees("account-1", [{ payee: "b-77", mark: "mark-77", shown }]);
    const found = await ledger.payees({ account: "account-1", payees: ["mark-77", "b-77"] });
    expect(found.map(({ mark, payee, shown: is }) => [payee, mark, is])).toEqual([
      ["b-77", "mark-77", shown],
      ["mark-77", null, shown],
    ]);
  });

  it("lists runs that are open or missing, and opens a missing run that is started again", async () => {
    const workflowId = `status-${++count}`;
    const missing = { runId: null, endState: "missing", endedAt: null } as const;
    await ledger.recordStart(runOf({ workflowId }), startOf());
    await ledger.recordEnds([{ workflowId, ...missing, endType: null, endReason: null }]);
    const after = `${workflowId.slice(0, -1)}`;
    const ids = (await ledger.openRuns({ after, limit: 1_000 })).map((run) => run.workflowId);
    expect(ids).toContain(workflowId);
    const [run] = await ledger.runs({ workflowIds: [workflowId] });
    expect(run).toMatchObject({ status: "missing" });
    await ledger.recordStart(runOf({ workflowId }), startOf({ content: "again" }));
    expect(await ledger.runs({ workflowIds: [workflowId] })).toMatchObject([
      { status: "running", endState: null },
    ]);
  });
};
