import { chunksOf } from "effect/Array";
import { afterAll, beforeAll, expect, it } from "vitest";
import { endAmong, moneyStateOf, wordsId } from "../../src/index.ts";
import type {
  EndState,
  Ledger,
  PayoutOutcome,
  RecordedWrite,
  Run,
  RunStatus,
  Standing,
  WriteRow,
} from "../../src/index.ts";
import { expectFolded } from "./feed.ts";
import { ADA, batchOf, decisionOf, made, nameOf, runOf, saving, startOf } from "./rows.ts";

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

const STATUSES: ReadonlySet<string | undefined> = new Set<RunStatus>([
  "approval",
  "asking",
  "cancelled",
  "ended",
  "failed",
  "missing",
  "returned",
  "running",
  "succeeded",
  "terminated",
  "timedOut",
  "unknown",
  "waiting",
]);

/** Types of failures: of another step, and of a payout; a stale end has none. */
const END_TYPES = [null, "Refused", "PayoutFailed", "PayoutStillOpen"] as const;

/** Runs that are drawn, each with a child. The last ones have shown faults that the others do not. */
const FAMILIES = [...Array.from({ length: 250 }, (_, seed) => seed + 1), 685, 934, 2428];

/** Families that change at the same time: transactions of more may wait too long on a slow machine. */
const AT_ONCE = 25;

const PURPOSES: Readonly<Record<string, string>> = {
  payout: "createPayout",
  onboardCardholder: "createCard",
};
const TYPES = [...Object.keys(PURPOSES), "payOrders"];

/** Whether a run has failed for another reason than the outcome of a payout. */
export const hasFailed = ({ endState, endType }: Pick<Run, "endState" | "endType">): boolean =>
  ["failed", "timedOut", "terminated"].includes(endState ?? "") &&
  // A stale end has no type.
  !["PayoutFailed", "PayoutStillOpen"].includes(endType ?? "PayoutFailed");

/** The rule of a status, said a second time: of everything that the ledger has about a run. */
const expectedOf = async (ledger: Ledger, run: Run): Promise<RunStatus> => {
  const { endState, type, workflowId } = run;
  const isStopped = endAmong(await ledger.decisionsOf(workflowId)) !== undefined;
  const rows = await ledger.rowsOf(workflowId);
  const has = (standing: Standing, some = rows) => some.some((row) => row.standing === standing);
  for (const asked of ["asking", "approval"] as const) if (has(asked)) return asked;
  const isOwnOrKnown = ({ doubt, ownerId, state }: RecordedWrite) =>
    ownerId === workflowId || state !== "sending" || doubt > 0;
  if (has("unknown", rows.filter(isOwnOrKnown))) return "unknown";
  // The payment of a key is also that of the run whose id is made of it, whoever has made it.
  const own = rows.filter((row) => [row.ownerId, row.workflowId].includes(workflowId));
  if (type in PURPOSES || !hasFailed(run)) {
    if (has("returned", own)) return "returned";
    if (has("made", own)) return "waiting";
  }
  const purpose = own.filter(({ operation }) => operation === PURPOSES[type]);
  if (endState !== null || isStopped) {
    if (has("completed", purpose)) return "succeeded";
    if (has("failed", purpose)) return "failed";
  }
  if (isStopped) return "ended";
  if (endState !== null && endState !== "missing")
    return endState === "succeeded" && type in PURPOSES ? "failed" : endState;
  const waits = await ledger.waits({ workflowId, isOpen: true });
  return waits.length > 0 ? "waiting" : (endState ?? "running");
};

/** The rule of the standing of open writes: those of an ended run may have taken effect, or never will. */
const checkOpenWrites = async (ledger: Ledger, run: Run): Promise<void> => {
  const { endState, planned, workflowId } = run;
  for (const row of await ledger.rowsOf(workflowId)) {
    const isOpen = row.doubt === 0 && row.question === null;
    if (row.ownerId !== workflowId || !isOpen) continue;
    if (row.state === "sending") expect(row.standing).toBe(endState === null ? "open" : "unknown");
    if (row.state === "ready")
      expect(row.standing).toBe(endState === null || endState === "missing" ? "open" : "stopped");
  }
  const isStopped = endAmong(await ledger.decisionsOf(workflowId)) !== undefined;
  if (planned !== null)
    expect(planned).toBe(
      isStopped || (endState !== null && endState !== "missing") ? "stopped" : "open",
    );
};

/** The same numbers in each run: xorshift. */
const drawsFrom = (seed: number) => {
  let state = seed;
  const draw = (below: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  const among = <A>(some: ReadonlyArray<A>): A => {
    const one = some[draw(some.length)];
    if (one === undefined && some.length === 0) throw new Error("nothing to draw from");
    // Drawn below the length.
    return one as A;
  };
  return { draw, among };
};

/** Changes of which each may change a status. */
const CHANGES = ["write", "write", "see", "end", "stop", "wait", "start", "anotherRun"] as const;

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

  /** Draws a run with a child and a write by a key, and everything that happens to them. Returns the ids of the runs. */
  const drawFamily = async (seed: number): Promise<ReadonlyArray<string>> => {
    const { among, draw } = drawsFrom(seed);
    const parent = `family-${seed}`;
    const child = `${parent}/child`;
    const byKey = `${parent}/by-key`;
    const ids = [parent, child, byKey];
    // The start of a child is not recorded: its first write is.
    for (const workflowId of [parent, byKey])
      await ledger.recordStart(runOf({ workflowId, type: among(TYPES) }), startOf());
    const writes = ["createPayout", "createCard", "again"].flatMap((step) => [
      { workflowId: parent, ownerId: parent, step },
      { workflowId: child, ownerId: child, step },
      // Each run that asks for it in turn.
      ...ids.map((ownerId) => ({ workflowId: byKey, ownerId, step })),
    ]);
    for (let count = 0; count < 14; count++) {
      const workflowId = among(ids);
      switch (among(CHANGES)) {
        case "write":
        case "anotherRun": {
          const { ownerId, step, workflowId } = among(writes);
          const name = nameOf({ workflowId, step });
          const row = ROWS[among(Object.keys(ROWS) as ReadonlyArray<Standing>)];
          const given = {
            rootId: parent,
            ownerId,
            doubt: 0,
            question: null,
            madeId: null,
            ...(row.state === "done" && made(`${workflowId}-${step}`)),
            ...row,
            ...(row === ROWS.open && { state: among(["ready", "sending"] as const) }),
            operation: step === "createCard" ? step : "createPayout",
            runId: among(["run-1", "run-2"]),
          };
          await ledger.transact(
            name,
            (look) => ({ ...saving(name, given)(look), workflowType: among(TYPES) }),
            { ownerId, rootId: parent },
          );
          break;
        }
        case "see": {
          const { step, workflowId } = among(writes);
          const outcome = among([null, "completed", "failed", "returned"] as const);
          const seen = { word: String(draw(3)), outcome, asks: false, problem: null };
          await ledger.sawPayout("account-1", `${workflowId}-${step}`, seen);
          break;
        }
        case "end": {
          const runId = among([null, "run-1", "run-1", "run-2"]);
          const endState = among(ENDS);
          const endType = END_TYPES[count % END_TYPES.length] ?? null;
          const end = { endState, endedAt: 1, endType, endReason: null };
          await ledger.recordEnds([{ workflowId, runId, ...end }]);
          break;
        }
        case "stop":
          await ledger.decide(decisionOf({ workflowId, kind: among(["end", "overrule"]) }));
          break;
        case "wait": {
          const wait = { account: "account-1", workflowId, runId: "run-1", activityId: "await" };
          const opened = { ...wait, kind: "payout", thing: "P" } as const;
          const change = among(["open", "close", "end"]);
          if (change === "open") await ledger.openWait(opened);
          else if (change === "close") await ledger.closeWaits([{ ...wait, outcome: {} }]);
          else await ledger.endWait({ ...opened, outcome: {} });
          break;
        }
        case "start":
          await ledger.recordStart(
            runOf({ workflowId, runId: among([null, "run-1", "run-2"]) }),
            startOf({ content: `content-${draw(3)}` }),
          );
          break;
      }
    }
    return ids;
  };

  it("says of a run what its writes, its waits, its end and its stop order say, whatever happened before", async () => {
    const ids: Array<string> = [];
    for (const seeds of chunksOf(FAMILIES, AT_ONCE))
      ids.push(...(await Promise.all(seeds.map(drawFamily))).flat());
    const runs = await ledger.runs({ workflowIds: ids });
    const found = runs.map(({ status, workflowId }) => [workflowId, status]);
    const expected: Array<ReadonlyArray<string>> = [];
    const expectAll = (some: ReadonlyArray<Run>) =>
      Promise.all(some.map(async (run) => [run.workflowId, await expectedOf(ledger, run)]));
    for (const some of chunksOf(runs, AT_ONCE)) expected.push(...(await expectAll(some)));
    expect(found).toEqual(expected);
    for (const run of runs) await checkOpenWrites(ledger, run);
    // Each status is drawn: one that never is would be checked by nothing.
    expect(new Set(found.map(([, status]) => status))).toEqual(STATUSES);
    await expectFolded(ledger, runs);
  });

  it("records with what is seen of a payout that a wait for it has ended, whether anything is new or not", async () => {
    const [workflowId, waiting] = [`status-${++count}`, `status-${++count}`];
    const payment = `${workflowId}-createPayout`;
    await ledger.recordStart(runOf({ workflowId: waiting }), startOf());
    await write(workflowId, workflowId, "createPayout", "made");
    const seen = { word: "paid", outcome: "completed", asks: false, problem: null } as const;
    for (const thing of [payment, payment, "P-unknown"]) {
      const run = { account: "account-1", workflowId: waiting, runId: "run-1" };
      const wait = { ...run, activityId: "await", kind: "payout", thing } as const;
      const outcome = { outcome: "completed" };
      await ledger.openWait(wait);
      await ledger.sawPayout("account-1", thing, seen, undefined, { ...wait, outcome });
      expect(await ledger.waits({ workflowId: waiting })).toMatchObject([{ outcome }]);
      const [found] = await ledger.runs({ workflowIds: [waiting] });
      expect(found?.status).toBe("running");
    }
    expect((await ledger.payout("account-1", payment))?.standing).toBe("completed");
    expect(await ledger.payout("account-2", payment)).toBeUndefined();
  });

  it("says of a run what the payment of its account says, and not that of another account with the same key", async () => {
    const [workflowId, ownerId] = [`payout/status-${++count}`, `payroll-${count}`];
    await ledger.recordStart(runOf({ workflowId }), startOf());
    const name = nameOf({ account: "account-2", workflowId });
    const owner = { ownerId, rootId: ownerId };
    const statusOf = async () => (await ledger.runs({ workflowIds: [workflowId] }))[0];
    const end = { endState: "failed", endedAt: 1, endType: "Refused", endReason: null } as const;
    for (const [standing, change] of [
      ["running", ROWS.asking],
      ["running", made(workflowId)],
      ["failed", made(workflowId)],
    ] as const) {
      await ledger.transact(name, saving(name, { ...owner, ...change }), owner);
      if (standing === "failed") {
        const seen = { word: "paid", outcome: "completed", asks: false, problem: null } as const;
        await ledger.sawPayout(name.account, workflowId, seen);
        await ledger.recordEnds([{ workflowId, runId: null, ...end }]);
      }
      const planned = standing === "failed" ? "stopped" : "open";
      expect(await statusOf()).toMatchObject({ status: standing, planned });
    }
    // A step of its own workflow may be sent for another account.
    const own = nameOf({ account: "account-3", workflowId, step: "own" });
    await ledger.transact(own, saving(own, ROWS.asking));
    expect(await statusOf()).toMatchObject({ status: "asking" });
  });

  it("has a wait read by the schedule of its payout, and at once as soon as that has an outcome", async () => {
    const account = `account-waits-${++count}`;
    const name = nameOf({ workflowId: `status-${++count}`, account });
    const id = `P-${count}`;
    await ledger.transact(name, saving(name, made(id)));
    const waiting = `status-${++count}`;
    const of = { account, workflowId: waiting, runId: "run-1", activityId: "await" } as const;
    const readAfter = async () => (await ledger.waits({ workflowId: waiting }))[0]?.readAfter;
    const due = () => ledger.waits({ account, kind: "payout", isOpen: true, isDue: true });
    await ledger.openWait({ ...of, kind: "payout", thing: id });
    expect(await readAfter()).toBeNull();
    const things = [id, "P-unknown"];
    expect(await ledger.waits({ account, kind: "payout", isOpen: true, things })).toMatchObject([
      of,
    ]);
    // Whoever sees the outcome may end before it completes the wait.
    const seen = { word: "paid", outcome: "completed", asks: false, problem: null } as const;
    await ledger.sawPayout(account, id, seen);
    expect(await due()).toHaveLength(1);
    await ledger.readWaits((await due()).map((wait) => ({ wait })));
    expect(await due()).toEqual([]);
    const { now } = await ledger.state();
    expect(await readAfter()).toBeLessThanOrEqual(now + 1_000);
    await ledger.closeWaits([{ ...of, outcome: {} }]);
    // A payout that the ledger does not have, or whose outcome it knows already, has a schedule of its own.
    for (const thing of [id, "P-unknown"]) {
      await ledger.openWait({ ...of, kind: "payout", thing });
      expect(await readAfter()).toBeGreaterThan(now);
      await ledger.closeWaits([{ ...of, outcome: {} }]);
    }
    expect(await ledger.countRead(account)).toEqual({ open: 0, returns: 0 });
  });

  it("knows the open waits of ended runs, also those that were opened after the end", async () => {
    const account = `account-left-${++count}`;
    const ids = [`status-${++count}`, `status-${++count}`];
    const [before = "", after = ""] = ids;
    const open = (workflowId: string, runId = "run-1") =>
      ledger.openWait({
        account,
        workflowId,
        runId,
        activityId: "await",
        kind: "balance",
        thing: "EUR 1",
      });
    const left = async () =>
      (await ledger.waits({ account, isOpen: true, isLeft: true })).map((wait) => wait.workflowId);
    for (const workflowId of ids)
      await ledger.recordStart(runOf({ workflowId, runId: "run-1" }), startOf());
    await open(before);
    expect(await left()).toEqual([]);
    const end = {
      runId: "run-1",
      endState: "terminated",
      endedAt: 1,
      endType: null,
      endReason: null,
    } as const;
    await ledger.recordEnds(ids.map((workflowId) => ({ workflowId, ...end })));
    // Its attempt is perhaps of an earlier run.
    await open(after, "run-0");
    expect((await left()).toSorted()).toEqual(ids.toSorted());
    // The service is read for them until they are closed.
    await ledger.readWaits((await ledger.waits({ account })).map((wait) => ({ wait })));
    expect((await left()).toSorted()).toEqual(ids.toSorted());
    await ledger.reopenRun(after, "run-1", "run-2");
    expect(await left()).toEqual([before]);
    await ledger.recordEnds([{ workflowId: after, ...end, runId: "run-2" }]);
    expect((await left()).toSorted()).toEqual(ids.toSorted());
  });

  it("says that a run waits, as long as a wait of it is open", async () => {
    const workflowId = `status-${++count}`;
    const statusOf = async () => (await ledger.runs({ workflowIds: [workflowId] }))[0]?.status;
    const wait = { account: "account-1", workflowId, runId: "run-1", activityId: "await" };
    await ledger.recordStart(runOf({ workflowId }), startOf());
    await ledger.openWait({ ...wait, kind: "balance", thing: "EUR 1" });
    expect(await statusOf()).toBe("waiting");
    await ledger.closeWaits([{ ...wait, outcome: {} }]);
    expect(await statusOf()).toBe("running");
  });

  it("says of a key what its payment says, whichever run makes it: also of the run with its id, not of the one before", async () => {
    const [one, other] = [`status-${++count}`, `status-${++count}`];
    const byKey = `payout/status-${++count}`;
    const all = [byKey, one, other];
    const missing = { runId: null, endedAt: null, endType: null, endReason: null };
    for (const workflowId of all) await ledger.recordStart(runOf({ workflowId }), startOf());
    const name = nameOf({ workflowId: byKey });
    const statuses = async () => {
      const runs = await ledger.runs({ workflowIds: all });
      return all.map((id) => runs.find(({ workflowId }) => workflowId === id)?.status);
    };
    const ask = (ownerId: string, row: Partial<WriteRow>) => {
      const owner = { ownerId, rootId: ownerId };
      return ledger.transact(name, saving(name, { ...owner, ...row }), owner);
    };
    await ask(one, { state: "unknown", doubt: 1 });
    expect(await statuses()).toEqual(["unknown", "unknown", "running"]);
    await ask(other, { state: "unknown", doubt: 1 });
    expect(await statuses()).toEqual(["unknown", "running", "unknown"]);
    await ask(other, { ...made(byKey), doubt: 0 });
    const seen = { word: "completed", outcome: "completed", asks: false, problem: null } as const;
    await ledger.sawPayout("account-1", byKey, seen);
    await ledger.recordEnds(
      all.map((workflowId) => ({ workflowId, ...missing, endState: "succeeded" })),
    );
    expect((await statuses()).filter((_, at) => at !== 1)).toEqual(["succeeded", "succeeded"]);
    // Its money is listed once: as that of the run which has made it.
    const { runs } = await ledger.listRuns({ find: byKey }, { limit: 2 });
    expect(runs.map(({ run }) => run.planned)).toEqual([null, null]);
  });

  it("takes the start of a run from Temporal if nobody has recorded it: its first write may be days later", async () => {
    const [known, unknown] = [`status-${++count}`, `status-${++count}`];
    await ledger.recordStart(runOf({ workflowId: known }), startOf());
    await ledger.recordRun(runOf({ workflowId: unknown }), 2_000);
    const starts = async () =>
      (await ledger.runs({ workflowIds: [known, unknown] })).map(({ startedAt }) => startedAt);
    const before = new Set(await starts());
    const end = { runId: "run-1", endState: null, endedAt: null, endType: null, endReason: null };
    for (const startedAt of [1_000, 3_000])
      await ledger.recordEnds(
        [known, unknown].map((workflowId) => ({ workflowId, ...end, startedAt })),
      );
    expect(new Set(await starts())).toEqual(
      new Set([...before, 1_000].filter((at) => at !== 2_000)),
    );
  });

  it("counts a row of a file as started when its first run begins, and not at the upload", async () => {
    const [seen, writes] = [`status-${++count}`, `status-${++count}`];
    const batch = `payouts/${seen}`;
    const of = async (workflowId: string) => {
      const [run] = await ledger.runs({ workflowIds: [workflowId] });
      return run?.startedAt ?? 0;
    };
    const listed = async (since: number) =>
      (await ledger.listRuns({ batch, since }, { limit: 9 })).runs.map(({ run }) => run.workflowId);
    const fields = {
      mark: null,
      shown: null,
      message: null,
      terms: "t",
      state: "started",
    } as const;
    for (const [at, workflowId] of [seen, writes].entries()) {
      const { amount, currency, payee, reference } = runOf({ workflowId });
      const row = { ...fields, amount, currency, payee, reference, fingerprint: workflowId };
      await ledger.saveRows(batch, [{ ...row, number: at + 1, workflowId }]);
      await ledger.recordStart(runOf({ workflowId, batch, batchRow: at + 1 }), startOf());
    }
    const uploaded = Math.max(await of(seen), await of(writes));
    const rowStarts = async () =>
      (await ledger.listRows(batch, { limit: 9 })).map(({ startedAt }) => startedAt);
    expect(await rowStarts()).toEqual([null, null]);
    await expect.poll(async () => (await ledger.state()).now).toBeGreaterThan(uploaded);
    // Its first write may be the first to say so, or the tracker.
    const name = nameOf({ workflowId: writes });
    await ledger.transact(name, (look) => ({ ...saving(name)(look), workflowType: "payout" }));
    const open = { endState: null, endedAt: null, endType: null, endReason: null };
    const ends = (runId: string, startedAt: number) =>
      ledger.recordEnds([{ workflowId: seen, runId, startedAt, ...open }]);
    await ends("run-1", uploaded + 60_000);
    expect(await of(seen)).toBe(uploaded + 60_000);
    expect(await of(writes)).toBeGreaterThan(uploaded);
    expect(await rowStarts()).toEqual([await of(seen), await of(writes)]);
    expect(new Set(await listed(uploaded + 1))).toEqual(new Set([seen, writes]));
    expect(await listed(uploaded + 60_000)).toEqual([seen]);
    // A retry is another run of an id that has started.
    await ends("run-2", uploaded + 120_000);
    expect(await of(seen)).toBe(uploaded + 60_000);
  });

  it("says that a further send waits for its approval, whose money stays unknown", async () => {
    const workflowId = `status-${++count}`;
    const name = nameOf({ workflowId });
    await ledger.recordStart(runOf({ workflowId }), startOf());
    const statusOf = async () => (await ledger.runs({ workflowIds: [workflowId] }))[0]?.status;
    const ask = (kind: "outcome" | "approval", state: "asking" | "ready") => {
      const question = { ...APPROVAL, kind, since: 0 };
      return ledger.transact(name, saving(name, { state, doubt: 1, question }));
    };
    await ask("outcome", "asking");
    expect(await statusOf()).toBe("asking");
    for (const state of ["asking", "ready"] as const) {
      await ask("approval", state);
      expect(await statusOf()).toBe("approval");
      const [row] = await ledger.rowsOf(workflowId);
      expect(row && moneyStateOf(row.standing)).toBe("unknown");
    }
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

  it.each(["made", "returned"] as const)(
    "lists the failure of a user's own workflow whose earlier payout is %s, unless it is about that payout",
    async (standing) => {
      const statusAfter = async (type: string, endState: EndState, endType: string) => {
        const workflowId = `status-${++count}`;
        await ledger.recordStart(runOf({ workflowId, type }), startOf());
        await write(workflowId, workflowId, "createPayout", standing);
        const end = { runId: "run-1", endedAt: 1, endReason: "no" };
        await ledger.recordEnds([{ ...end, workflowId, endState, endType }]);
        return (await ledger.runs({ workflowIds: [workflowId] }))[0]?.status;
      };
      const ofMoney = standing === "made" ? "waiting" : "returned";
      expect(await statusAfter("payOrder", "failed", "InvalidRequest")).toBe("failed");
      expect(await statusAfter("payOrder", "terminated", "Terminated")).toBe("terminated");
      expect(await statusAfter("payOrder", "timedOut", "TimedOut")).toBe("timedOut");
      expect(await statusAfter("payOrder", "failed", "PayoutFailed")).toBe(ofMoney);
      expect(await statusAfter("payOrder", "failed", "PayoutStillOpen")).toBe(ofMoney);
      expect(await statusAfter("payOrder", "succeeded", "")).toBe(ofMoney);
      expect(await statusAfter("payout", "failed", "InvalidRequest")).toBe(ofMoney);
    },
  );

  it("keeps the outcome of a payout, whatever its row says later, and knows money that came back", async () => {
    const workflowId = `status-${++count}`;
    const name = nameOf({ workflowId });
    const id = `${workflowId}-createPayout`;
    await ledger.recordStart(runOf({ workflowId }), startOf());
    await write(workflowId, workflowId, "createPayout", "completed");
    await ledger.transact(name, saving(name, { mustNotify: true }));
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

  it("says when a payout is read next, from when it was made until nothing remains to be seen", async () => {
    const account = `account-due-${++count}`;
    const make = async (changedAt: number) => {
      const name = nameOf({ workflowId: `status-${++count}`, account });
      const id = `P-${count}`;
      await ledger.transact(name, saving(name, { ...made(id), changedAt }));
      return id;
    };
    const readAfter = async (id: string) => (await ledger.payout(account, id))?.readAfter ?? null;
    const due = async (limit: number) =>
      (await ledger.duePayouts(account, limit)).map(({ madeId }) => madeId);
    const { now } = await ledger.state();
    const [old, young, old2] = [
      await make(now - 400_000),
      await make(now),
      await make(now - 500_000),
    ];
    expect(await readAfter(young)).toBe(now + 1_000);
    expect(await due(9)).toEqual([old2, old]);
    expect(await due(1)).toEqual([old2]);
    const open = { word: "processing", outcome: null, asks: false, problem: null };
    const rows = await ledger.payouts(account, [old, young, old2, "P-unknown"]);
    expect(rows).toHaveLength(3);
    // Many in one transaction, also if a list shows one of them twice.
    await ledger.sawPayouts(
      account,
      [...rows, ...rows].map((row) => ({ row, seen: open })),
      30_000,
    );
    const { now: then } = await ledger.state();
    expect(await due(9)).toEqual([]);
    // A tenth of its age, or the longest interval; also if nothing else was new.
    expect(await readAfter(young)).toBeLessThanOrEqual(then + 1_000);
    for (const id of [old, old2]) {
      expect(await readAfter(id)).toBeGreaterThanOrEqual(now + 30_000);
      expect(await readAfter(id)).toBeLessThanOrEqual(then + 30_000);
    }
    await ledger.sawPayout(account, old, open);
    expect(await readAfter(old)).toBeGreaterThanOrEqual(now + 40_000);
    // A payout that is under way again is read at once, and one with an outcome some hours later.
    const word = "Credited";
    await ledger.sawPayout(account, old, { ...open, word, isUnlisted: true });
    await ledger.decideWord(account, word, "completed", ADA);
    expect(await due(9)).toEqual([old]);
    const completed = { ...open, word, outcome: "completed", isDecided: true } as const;
    await ledger.sawPayout(account, old, completed);
    expect((await readAfter(old)) ?? 0).toBeGreaterThanOrEqual(now + 6 * 3_600_000);
    expect(await due(9)).toEqual([]);
    await ledger.decideWord(account, word, "failed", ADA);
    expect(await due(9)).toEqual([old]);
    // A change of its row alone changes nothing.
    const before = await readAfter(young);
    const name = {
      account,
      workflowId: rows.find(({ madeId }) => madeId === young)?.workflowId ?? "",
    };
    await ledger.transact(nameOf(name), ({ row }) =>
      row ? { row: { ...row, mustNotify: true } } : {},
    );
    expect(await readAfter(young)).toBe(before);
  });

  it("watches a payout with an outcome, keeps each outcome in the log, and shows the latest", async () => {
    const account = `account-watched-${++count}`;
    const name = nameOf({ workflowId: `status-${++count}`, account });
    const id = `P-${count}`;
    await ledger.recordStart(runOf({ workflowId: name.workflowId, type: "payout" }), startOf());
    await ledger.transact(name, saving(name, made(id)));
    const see = async (word: string, outcome: PayoutOutcome | null, more: object = {}) => {
      await ledger.sawPayout(account, id, { word, outcome, asks: false, problem: null, ...more });
      return ledger.payout(account, id);
    };
    const watched = async () => (await ledger.duePayouts(account, 9, "watched")).length;
    // Money that had left and did not stay came back: also if the service calls it a failure.
    const outcomes = [
      ["completed", "completed", "completed"],
      ["failed", "failed", "returned"],
      ["rejected", "failed", "returned"],
      ["completed", "completed", "completed"],
      ["reversed", "returned", "returned"],
      ["processing", null, "returned"],
      ["completed", "completed", "completed"],
    ] as const;
    for (const [word, outcome, standing] of outcomes) {
      const row = await see(word, outcome);
      expect(row).toMatchObject({ standing, word });
      expect((row?.readAfter ?? 0) - (row?.outcomeAt ?? 0)).toBeGreaterThanOrEqual(6 * 3_600_000);
    }
    const lines = await ledger.logOf(name.workflowId);
    expect(lines.flatMap((line) => ("what" in line ? [line.what] : []))).toEqual([
      "sent",
      ...["completed", "returned", "completed", "returned", "completed"].map(
        (of) => `payout ${of}`,
      ),
    ]);
    expect(await ledger.verify(name.workflowId)).toMatchObject({ isIntact: true });
    // A word that nobody has explained may mean that the money came back: a person is asked, whatever else is shown.
    const asked = async () => {
      const items = await ledger.attention({ lateAfterMs: 1e12 });
      return items.filter((item) => item.account === account && item.kind === "word").length;
    };
    expect(await see("Clawed back", null, { isUnlisted: true })).toMatchObject({
      standing: "completed",
      wordAsks: true,
    });
    expect(await asked()).toBe(1);
    expect(await ledger.useOfWord(account, "clawed BACK")).toMatchObject([
      { standing: "completed", count: 1, amount: "250.00" },
    ]);
    expect(await watched()).toBe(0);
    await ledger.decideWord(account, "Clawed back", "returned", ADA);
    expect(await watched()).toBe(1);
    expect(await ledger.duePayouts(account, 9)).toEqual([]);
    expect(await see("Clawed back", "returned", { isDecided: true })).toMatchObject({
      standing: "returned",
      decidedWord: "clawed back",
      wordAsks: false,
    });
    expect([await watched(), await asked()]).toEqual([0, 0]);
  });

  it("lets no reading that began before the last outcome take it back, and reads again at once", async () => {
    const account = `account-late-${++count}`;
    const name = nameOf({ workflowId: `status-${++count}`, account });
    const id = `P-${count}`;
    await ledger.transact(name, saving(name, made(id)));
    const row = await ledger.payout(account, id);
    if (row === undefined) throw new Error("It was not made.");
    const completed = { word: "paid", outcome: "completed", asks: false, problem: null } as const;
    const watched = async () => (await ledger.duePayouts(account, 9, "watched")).length;
    await ledger.sawPayout(account, id, completed);
    await ledger.sawPayout(account, id, { ...completed, word: "bounced", outcome: "failed" });
    // A worker has read it when it was completed, and stood still since.
    await ledger.sawPayouts(account, [{ row, seen: completed }]);
    expect(await ledger.payout(account, id)).toMatchObject({
      standing: "returned",
      word: "bounced",
    });
    expect(await watched()).toBe(1);
    const now = await ledger.payout(account, id);
    await ledger.sawPayouts(account, [{ row: now ?? row, seen: completed }]);
    expect(await ledger.payout(account, id)).toMatchObject({ standing: "completed" });
    expect(await watched()).toBe(0);
  });

  it("takes back the outcomes that followed from a word, once it gets another meaning", async () => {
    const seen = {
      word: "Gutgeschrieben",
      outcome: "completed",
      asks: false,
      problem: null,
    } as const;
    const make = async () => {
      const workflowId = `status-${++count}`;
      await ledger.recordStart(runOf({ workflowId, type: "payout" }), startOf());
      await write(workflowId, workflowId, "createPayout", "made");
      return { workflowId, id: `${workflowId}-createPayout` };
    };
    const [decided, listed, other] = [await make(), await make(), await make()];
    const see = (id: string, isDecided: boolean, outcome: "completed" | "failed" = "completed") =>
      ledger.sawPayout("account-1", id, { ...seen, outcome, isDecided });
    await ledger.decideWord("account-1", "Gutgeschrieben", "completed", ADA);
    await see(decided.id, true);
    await see(listed.id, false);
    const standingOf = async (one: { workflowId: string }) =>
      (await ledger.rowsOf(one.workflowId))[0];
    expect(await standingOf(decided)).toMatchObject({
      standing: "completed",
      decidedWord: "gutgeschrieben",
    });
    expect(await ledger.useOfWord("account-1", "gutgeschrieben")).toMatchObject([
      { standing: "completed", count: 1 },
    ]);
    await ledger.decideWord("account-1", "gutgeschrieben", "completed", ADA);
    expect(await standingOf(decided)).toMatchObject({ standing: "completed" });
    await ledger.decideWord("account-1", "GUTGESCHRIEBEN", "failed", { ...ADA, by: "grace" });
    expect(await standingOf(decided)).toMatchObject({
      standing: "made",
      outcomeAt: null,
      decidedWord: null,
    });
    expect(await standingOf(listed)).toMatchObject({ standing: "completed" });
    expect((await ledger.runs({ workflowIds: [decided.workflowId] }))[0]?.status).toBe("waiting");
    // A look that began under the meaning before.
    await see(decided.id, true);
    await see(other.id, true);
    for (const one of [decided, other])
      expect(await standingOf(one)).toMatchObject({ standing: "made" });
    await see(decided.id, true, "failed");
    expect(await standingOf(decided)).toMatchObject({ standing: "failed" });
    const lines = await ledger.logOf(decided.workflowId);
    const said = lines.flatMap((line) => ("what" in line ? [`${line.what}, ${line.who}`] : []));
    expect(said.slice(1)).toEqual([
      "payout completed, as ada said of the word",
      "payout under way again, grace",
      "payout failed, as grace said of the word",
    ]);
    expect(await ledger.verify(decided.workflowId)).toMatchObject({ isIntact: true });
    expect(await ledger.verify(wordsId("account-1"))).toMatchObject({ isIntact: true });
    expect(await ledger.decidedWords("account-1")).toMatchObject([
      { word: "paid out" },
      { word: "gutgeschrieben", means: "failed", by: "grace" },
    ]);
  });

  it("describes a payee by each id of its account, and by each holder that a payment names", async () => {
    const shown = "Muster GmbH, DE, account ending in 2606";
    const workflowId = `status-${++count}`;
    const namedAs = async (given: { readonly workflowId: string; readonly shown: string }) => {
      await ledger.recordStart(runOf({ payee: "mark-77", ...given }), startOf());
      const [run] = await ledger.runs({ workflowIds: [given.workflowId] });
      return run?.namedAs ?? "";
    };
    const own = await namedAs({ workflowId, shown });
    const wrong = "Wrong AG, DE, account ending in 2606";
    const other = await namedAs({ workflowId: `${workflowId}-b`, shown: wrong });
    await ledger.rememberPayees("account-1", [{ payee: "b-77", mark: "mark-77", shown }]);
    const found = await ledger.payees({ payees: [own, other, "b-77"] });
    expect(new Map(found.map(({ mark, payee, shown: is }) => [payee, [mark, is]]))).toEqual(
      new Map([
        ["b-77", ["mark-77", shown]],
        [own, ["mark-77", shown]],
        [other, ["mark-77", wrong]],
      ]),
    );
    // An amendment may correct the holder alone.
    const planned = { amount: "1.00", currency: "EUR", payee: "mark-77", reference: null };
    await ledger.amendRun(`${workflowId}-b`, { ...planned, shown });
    expect(await ledger.runs({ workflowIds: [`${workflowId}-b`] })).toMatchObject([
      { namedAs: own },
    ]);
  });

  it("has no run of a row that its file has not started", async () => {
    const workflowId = `status-${++count}`;
    const batch = `payouts/${workflowId}`;
    const { amount, currency, payee, reference } = runOf({ workflowId });
    const content = { amount, currency, payee, reference, fingerprint: workflowId, terms: "t" };
    const state = { mark: null, shown: null, state: "waiting", message: null } as const;
    await ledger.saveRows(batch, [{ ...content, ...state, number: 1, workflowId }]);
    await ledger.recordStart(runOf({ workflowId, batch, batchRow: 1 }), startOf());
    const isOpen = async () =>
      (await ledger.openRuns({ limit: 1_000 })).some((run) => run.workflowId === workflowId);
    expect(await isOpen()).toBe(false);
    await ledger.saveBatch(batch, () => ({ batch: { ...batchOf(batch), state: "approved" } }));
    await ledger.claimRows(batch, [1]);
    expect(await isOpen()).toBe(true);
  });

  it("lists runs that are open or missing, and opens a missing run that is started again", async () => {
    const workflowId = `status-${++count}`;
    const missing = { runId: null, endState: "missing", endedAt: null } as const;
    await ledger.recordStart(runOf({ workflowId }), startOf());
    await ledger.recordEnds([{ workflowId, ...missing, endType: null, endReason: null }]);
    const after = workflowId.slice(0, -1);
    const ids = (await ledger.openRuns({ after, limit: 1_000 })).map((run) => run.workflowId);
    expect(ids).toContain(workflowId);
    const [run] = await ledger.runs({ workflowIds: [workflowId] });
    expect(run).toMatchObject({ status: "missing" });
    await ledger.recordStart(runOf({ workflowId }), startOf({ content: "again" }));
    const isOpen = { status: "running", endState: null, endedAt: null, endReason: null };
    expect(await ledger.runs({ workflowIds: [workflowId] })).toMatchObject([isOpen]);
    const failed = { runId: "run-1", endState: "failed", endedAt: 1, endType: "Refused" } as const;
    const end = { workflowId, ...failed, endReason: "no" };
    const openAgain = [
      () => ledger.recordStart(runOf({ workflowId }), startOf({ firstRunId: "run-2" })),
      async () => {
        const name = nameOf({ workflowId });
        const change = saving(name, { runId: "run-3", state: "ready" });
        await ledger.transact(name, (look) => ({ ...change(look), workflowType: "payout" }));
      },
      () => ledger.recordEnds([{ ...end, endState: null, endedAt: null, endReason: null }]),
    ];
    for (const open of openAgain) {
      await ledger.recordEnds([end]);
      // The same start again, and a write of the same run, open nothing.
      await ledger.recordStart(runOf({ workflowId }), startOf({ content: "again" }));
      expect(await ledger.runs({ workflowIds: [workflowId] })).toMatchObject([
        { status: "failed", endState: "failed", endType: "Refused", endReason: "no" },
      ]);
      await open();
      expect(await ledger.runs({ workflowIds: [workflowId] })).toMatchObject([isOpen]);
    }
  });
};
