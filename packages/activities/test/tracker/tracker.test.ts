import { type ClientSettings, PaymentsClient, Unavailable } from "@durable-payments/client/effect";
import { messageOf } from "@durable-payments/client/values";
import {
  type Batch,
  type BatchRowState,
  type Ledger,
  openLedger,
  type RunEnd,
  trackerLease,
  type Wait,
  type WriteRow,
} from "@durable-payments/ledger";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { describeAccount } from "@durable-payments/protocol/account";
import type { Tracked } from "@durable-payments/protocol/calls";
import { ActivityNotFoundError, type Client, WorkflowNotFoundError } from "@temporalio/client";
import { Context, Effect } from "effect";
import { setTimeout as delay } from "node:timers/promises";
import { formatUnsafe } from "effect/observability/PrometheusMetrics";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { closeLeftWaits, finishFiles, janitor, notifyRuns } from "../../src/tracker/janitor.ts";
import { describePayees } from "../../src/tracker/payees.ts";
import { makeTrackerActivities, type TrackerOptions } from "../../src/tracker/track.ts";
import { readings } from "../../src/tracker/readings.ts";
import {
  type ClientCall,
  type PaymentsRuntime,
  readKnown,
  runCall,
} from "../../src/run-operation.ts";
import { NotYet, StepFailed } from "../../src/write/outcomes.ts";
import { attempt, runtimeOver, silent } from "../support/attempts.ts";
import { beneficiary, payout } from "../support/bodies.ts";
import { ACCOUNT, putRow, ROW } from "../support/rows.ts";

interface DescribedRun {
  readonly execution: { readonly workflowId: string };
}

/** Temporal's codes. */
const CODES = { RUNNING: 1, FAILED: 3, PAUSED: 8 } as const;

/** A client that keeps what it was asked to do, over runs in these states. */
const clientOf = (states: Readonly<Record<string, "RUNNING" | "PAUSED" | "FAILED">> = {}) => {
  const done: Array<readonly [what: string, ...of: ReadonlyArray<unknown>]> = [];
  const known = (workflowId: string) => {
    const state = states[workflowId];
    if (state === undefined) throw new WorkflowNotFoundError("no", workflowId, undefined);
    return state;
  };
  const describeWorkflowExecution = async ({ execution }: DescribedRun) => {
    const state = states[execution.workflowId];
    const fields = { code: 5, details: "not found", metadata: { get: () => [] } };
    if (state === undefined) throw Object.assign(new Error("not found"), fields);
    return { workflowExecutionInfo: { execution, status: CODES[state] } };
  };
  const getHandle = (workflowId: string) => ({
    signal: async ({ name }: { readonly name: string }, content: unknown) => {
      known(workflowId);
      done.push(["signal", workflowId, name, content]);
    },
  });
  // Visibility lags: the state of a run just paused is seen by its description.
  const listWorkflowExecutions = async () => ({
    executions: Object.entries(states)
      .filter(([, state]) => state === "RUNNING")
      .map(([workflowId]) => ({ execution: { workflowId } })),
  });
  const complete = async ({ activityId, workflowId }: Record<string, string>, result: unknown) => {
    const isOpen = states[workflowId ?? ""] === "RUNNING";
    const isDone = done.some(
      ([what, id, of]) => what === "complete" && id === workflowId && of === activityId,
    );
    if (!isOpen || isDone) throw new ActivityNotFoundError("no");
    done.push(["complete", workflowId, activityId, result]);
  };
  // Of a client, only this is asked for.
  const withAbortSignal = <A>(_: AbortSignal, work: () => A): A => work();
  const asked = {
    options: { namespace: "default" },
    workflowService: { describeWorkflowExecution, listWorkflowExecutions },
    workflow: { getHandle },
    activity: { complete },
    withAbortSignal,
  };
  return { done, client: asked as unknown as Client };
};

let ledger: Ledger;
beforeEach(async () => {
  ledger = await openLedger("memory", { clock: () => Date.now() });
  onTestFinished(() => ledger.close());
});

const recordRun = (workflowId: string, amount: string | null = null) => {
  const nothing = { amount, currency: amount && "EUR", payee: null, reference: null };
  const of = { account: ACCOUNT, workflowId, runId: "1", type: "payout" };
  return ledger.recordRun({ ...of, ...nothing, batch: null, batchRow: null }, 1);
};

const recordEnd = (workflowId: string, endState: RunEnd["endState"]) => {
  const end = { endState, endedAt: 1, endType: null, endReason: null };
  return ledger.recordEnds([{ workflowId, runId: "1", ...end }]);
};

const wait = (workflowId: string, kind: Wait["kind"], thing: string) =>
  ledger.openWait({
    account: ACCOUNT,
    workflowId,
    runId: "1",
    activityId: `await:${thing}`,
    kind,
    thing,
  });

describe("waits", () => {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator({ balances: { USD: "100000.00" } });
  });
  afterAll(() => simulator.stop());

  const sweep = (client: Client, runtime: PaymentsRuntime = runtimeOver(simulator)) => {
    const signal = new AbortController().signal;
    const of = {
      ledger,
      account: ACCOUNT,
      call: async <A>(call: ClientCall<A>) => {
        const result = await runCall(runtime, call, signal);
        if (result._tag === "Failure") throw result.failure;
        return result.success;
      },
    };
    const { count, parts, size } = readings({
      ...of,
      client,
      warn: () => {},
      watermark: undefined,
    });
    /** What `doctor` shows as open waits. */
    const countOpen = async () => {
      await count();
      return size();
    };
    const { "settled payouts": look, ...others } = parts;
    const sweepOnce = async () => {
      await Promise.all(Object.values(others).map((part) => part()));
    };
    return { count: countOpen, look, sweep: sweepOnce };
  };

  const untilDue = (ms = 2_000) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
    onTestFinished(() => void vi.useRealTimers());
  };

  /** Makes payouts at the service, with their writes and without a wait. */
  const makePayouts = async (count: number, runtime: PaymentsRuntime) => {
    const ids: Array<string> = [];
    for (const key of Array.from({ length: count }, (_none, index) => `run-${index}`)) {
      const { payout_id } = await runtime.runPromise(
        PaymentsClient.use((client) =>
          Effect.flatMap(client.createBeneficiary(beneficiary), ({ beneficiary_id }) =>
            client.createPayout({ ...payout, beneficiary_id, unique_request_id: key }),
          ),
        ),
      );
      const { amount, currency } = payout;
      const request = { ...ROW.request, amount, currency };
      const changedAt = Date.now();
      await putRow(ledger, {
        workflowId: key,
        state: "done",
        doubt: 0,
        madeId: payout_id,
        request,
        changedAt,
      });
      ids.push(payout_id);
    }
    return ids;
  };

  const payoutOf = async (workflowId: string) => (await ledger.rowsOf(workflowId))[0];

  it.each([
    ["by its own schedule", "sweep", ["completed", "returned"]],
    ["by the list of what has settled", "look", Array<string>(6).fill("completed")],
  ] as const)(
    "no run has to wait for a payout: its outcome is recorded all the same, %s",
    async (_, read, words) => {
      const runtime = runtimeOver(simulator);
      const ids = await makePayouts(words.length, runtime);
      const { client, done } = clientOf();
      const tracker = sweep(client, runtime);
      expect(await ledger.openPayouts(ACCOUNT)).toHaveLength(words.length);
      for (const [at, id] of ids.entries()) await simulator.setPayoutStatus(id, words[at] ?? "");
      untilDue();
      await tracker[read]();
      expect(done).toEqual([]);
      expect(await ledger.openPayouts(ACCOUNT)).toEqual([]);
      for (const [at, word] of words.entries())
        expect(await payoutOf(`run-${at}`)).toMatchObject({ standing: word, word });
      expect(await tracker.count()).toBe(0);
    },
  );

  describe("money that comes back after a payout has completed", () => {
    const HOURS = 3_600_000;
    const begin = async (count: number, settings: Partial<ClientSettings> = {}) => {
      const runtime = runtimeOver(simulator, settings);
      const ids = await makePayouts(count, runtime);
      for (const id of ids) await simulator.setPayoutStatus(id, "completed");
      const { client, done } = clientOf({ "run-0": "RUNNING", "run-1": "RUNNING" });
      const tracker = sweep(client, runtime);
      untilDue();
      await tracker.sweep();
      const requests = async () => {
        const { requests: of } = await simulator.state();
        return { pages: of["listPayouts"] ?? 0, single: of["retrievePayout"] ?? 0 };
      };
      return { done, ids, requests, tracker };
    };

    it.each([
      ["createTime", { pages: 1, single: 2 }],
      ["none", { pages: 0, single: 8 }],
    ] as const)(
      "is seen by readings that are due, in a window of the list (%s) or one by one",
      async (listWindow, wanted) => {
        const { ids, requests, tracker } = await begin(8, { assumptions: { listWindow } });
        await simulator.setPayoutStatus(ids[2] ?? "", "reversed");
        await simulator.setPayoutStatus(ids[3] ?? "", "failed");
        const before = await requests();
        untilDue(5 * HOURS);
        await tracker.sweep();
        expect(await requests()).toEqual(before);
        untilDue(2 * HOURS);
        // One by one, a turn reads five.
        await tracker.sweep();
        await tracker.sweep();
        // What the list shows otherwise than the ledger is read by itself.
        expect(await requests()).toEqual({
          pages: before.pages + wanted.pages,
          single: before.single + wanted.single,
        });
        for (const [at] of ids.entries())
          expect(await payoutOf(`run-${at}`)).toMatchObject({
            standing: at === 2 || at === 3 ? "returned" : "completed",
          });
        const lines = await ledger.logOf("run-3");
        expect(lines.at(-1)).toMatchObject({
          what: "payout returned",
          details: { word: "failed" },
        });
      },
    );

    it("is seen after the watch, once the service's own webhook says so", async () => {
      const { ids, requests, tracker } = await begin(2);
      const [back = "", paid = ""] = ids;
      for (const _ of [1, 2]) {
        untilDue(35 * 24 * HOURS);
        await tracker.sweep();
      }
      const before = await requests();
      untilDue(35 * 24 * HOURS);
      await simulator.setPayoutStatus(back, "returned");
      await tracker.sweep();
      expect(await requests()).toEqual(before);
      for (const id of ids) await ledger.readSoon([ACCOUNT], id);
      for (const _ of [1, 2]) {
        await tracker.sweep();
        expect(await requests()).toEqual({ ...before, single: before.single + 2 });
      }
      expect(await payoutOf("run-0")).toMatchObject({ standing: "returned", madeId: back });
      expect(await payoutOf("run-1")).toMatchObject({ standing: "completed", madeId: paid });
    });

    it("ends the wait of a run, also one that begins later", async () => {
      const { done, ids, tracker } = await begin(2);
      const [first = "", second = ""] = ids;
      await wait("run-0", "return", first);
      await wait("run-1", "return", second);
      await simulator.setPayoutStatus(first, "returned");
      untilDue(HOURS);
      await tracker.sweep();
      // Its payout is not due, and the wait causes no readings. It is counted all the same.
      expect(await tracker.count()).toBe(2);
      expect(done).toEqual([]);
      untilDue(6 * HOURS);
      await tracker.sweep();
      await tracker.sweep();
      const back = { outcome: "returned", payout_status: "returned" };
      expect(done).toMatchObject([["complete", "run-0", `await:${first}`, back]]);
      expect(await ledger.waits({ workflowId: "run-0" })).toMatchObject([{ outcome: back }]);
      expect(await ledger.waits({ isOpen: true })).toMatchObject([{ workflowId: "run-1" }]);
      expect(await tracker.count()).toBe(1);
      await ledger.openWait({
        account: ACCOUNT,
        workflowId: "run-1",
        runId: "1",
        activityId: "await:again",
        kind: "return",
        thing: first,
      });
      untilDue(2_000);
      await tracker.sweep();
      expect(done).toHaveLength(2);
    });
  });

  it("a word that nobody has listed is asked about once, and its meaning holds for all payouts", async () => {
    const runtime = runtimeOver(simulator);
    const [first = "", next = ""] = await makePayouts(2, runtime);
    const { client, done } = clientOf({ "run-0": "RUNNING" });
    const tracker = sweep(client, runtime);
    await wait("run-0", "payout", first);
    await simulator.setPayoutStatus(first, "completed");
    await simulator.setPayoutStatus(first, "Paid out");
    await simulator.setPayoutStatus(next, "paid out");
    untilDue();
    await tracker.sweep();
    // Nobody asks about a payout that shows no completion time.
    expect(await payoutOf("run-0")).toMatchObject({
      standing: "made",
      word: "Paid out",
      wordAsks: true,
    });
    expect(await payoutOf("run-1")).toMatchObject({
      standing: "made",
      word: "paid out",
      wordAsks: false,
    });
    expect(done).toEqual([]);
    await ledger.decideWord(ACCOUNT, "Paid out", "completed", {
      by: "ada",
      how: "terminal",
      reason: "The bank says so",
    });
    untilDue(10_000);
    await tracker.sweep();
    for (const run of ["run-0", "run-1"])
      expect(await payoutOf(run)).toMatchObject({
        standing: "completed",
        wordAsks: false,
        wordUnlisted: false,
        decidedWord: "paid out",
      });
    expect(done).toMatchObject([["complete", "run-0", `await:${first}`, { outcome: "completed" }]]);
  });

  it("a decision about a word can be corrected, and does not change what a setting says", async () => {
    const runtime = runtimeOver(simulator);
    const [first = "", next = ""] = await makePayouts(2, runtime);
    const { client } = clientOf();
    const tracker = sweep(client, runtime);
    const ada = { by: "ada", how: "terminal", reason: "The bank says so" };
    await simulator.setPayoutStatus(first, "Gutgeschrieben");
    await simulator.setPayoutStatus(next, "completed");
    await ledger.decideWord(ACCOUNT, "Gutgeschrieben", "completed", ada);
    await ledger.decideWord(ACCOUNT, "Completed", "failed", ada);
    untilDue();
    await tracker.sweep();
    expect(await payoutOf("run-0")).toMatchObject({ standing: "completed" });
    expect(await payoutOf("run-1")).toMatchObject({ standing: "completed", decidedWord: null });
    await ledger.decideWord(ACCOUNT, "Gutgeschrieben", "failed", ada);
    expect(await payoutOf("run-0")).toMatchObject({ standing: "made" });
    untilDue(10_000);
    await tracker.sweep();
    expect(await payoutOf("run-0")).toMatchObject({ standing: "failed" });
  });

  it("a payout that the service refuses to show is a problem once that lasts, and none once it is shown", async () => {
    const runtime = runtimeOver(simulator);
    const [id = ""] = await makePayouts(1, runtime);
    const { client } = clientOf();
    const tracker = sweep(client, runtime);
    await simulator.addFault({ kind: "refusal-in-200", operation: "retrievePayout", times: 2 });
    untilDue();
    await tracker.sweep();
    expect(await payoutOf("run-0")).toMatchObject({ problem: null });
    untilDue(300_000);
    await tracker.sweep();
    expect(await payoutOf("run-0")).toMatchObject({
      standing: "made",
      problem: expect.stringContaining("retrievePayout was refused"),
    });
    await simulator.setPayoutStatus(id, "processing");
    untilDue(300_000);
    await tracker.sweep();
    expect(await payoutOf("run-0")).toMatchObject({ standing: "made", problem: null });
  });

  it("end by the activity's id as soon as enough is there; the others stay", async () => {
    await wait("run-1", "balance", "USD 1.00");
    await wait("run-2", "balance", "USD 110000.00");
    const { client, done } = clientOf({ "run-1": "RUNNING", "run-2": "RUNNING" });
    untilDue();
    await sweep(client).sweep();
    expect(done).toMatchObject([
      ["complete", "run-1", "await:USD 1.00", { amount: "1.00", outcome: "enough" }],
    ]);
    expect(await ledger.waits({ isOpen: true })).toMatchObject([{ workflowId: "run-2" }]);
  });

  it("are read in time, although the ledger's clock is an hour ahead", async () => {
    ledger = await openLedger("memory", { clock: () => Date.now() + 3_600_000 });
    await wait("run-1", "balance", "USD 1.00");
    const { client, done } = clientOf({ "run-1": "RUNNING" });
    const tracker = sweep(client);
    await tracker.sweep();
    untilDue();
    await tracker.sweep();
    expect(done).toMatchObject([["complete", "run-1", "await:USD 1.00", { outcome: "enough" }]]);
  });

  it("are completed once by two trackers at the same time", async () => {
    await wait("run-1", "balance", "USD 1.00");
    const { client, done } = clientOf({ "run-1": "RUNNING" });
    untilDue();
    await Promise.all([sweep(client).sweep(), sweep(client).sweep()]);
    expect(done.filter(([what]) => what === "complete")).toHaveLength(1);
    expect(await ledger.waits({ isOpen: true })).toEqual([]);
  });

  it.each([
    ["by its own schedule", "sweep", 1],
    ["by the list of what has settled", "look", 6],
  ] as const)(
    "for payouts of another amount than was sent end with that: %s",
    async (_, read, count) => {
      const runtime = runtimeOver(simulator);
      const runs = Array.from({ length: count }, (_none, index) => `run-${index}`);
      for (const workflowId of runs) {
        const { payout_id } = await runtime.runPromise(
          PaymentsClient.use((client) =>
            Effect.flatMap(client.createBeneficiary(beneficiary), ({ beneficiary_id }) =>
              client.createPayout({ ...payout, beneficiary_id, unique_request_id: workflowId }),
            ),
          ),
        );
        await putRow(ledger, { workflowId, state: "done", madeId: payout_id });
        await simulator.setPayoutStatus(payout_id, "completed");
        await wait(workflowId, "payout", payout_id);
      }
      const { client, done } = clientOf(Object.fromEntries(runs.map((id) => [id, "RUNNING"])));
      untilDue();
      await sweep(client, runtime)[read]();
      const contradiction = expect.stringContaining("for a payout of 1.00 USD") as unknown;
      expect(done.map(([, , , result]) => result)).toEqual(
        runs.map(() => expect.objectContaining({ contradiction, outcome: "completed" }) as unknown),
      );
    },
  );

  it("are read nevertheless where the service does not know what one of them waits for", async () => {
    await wait("run-1", "payout", "unknown");
    await wait("run-2", "balance", "USD 1.00");
    const { client, done } = clientOf({ "run-1": "RUNNING", "run-2": "RUNNING" });
    const tracker = sweep(client);
    untilDue();
    await tracker.sweep();
    expect(done).toMatchObject([["complete", "run-2", "await:USD 1.00", { outcome: "enough" }]]);
    // A new one may be unknown for a while.
    expect(await ledger.waits({ isOpen: true })).toMatchObject([{ outcome: null }]);
    untilDue(200_000);
    await tracker.sweep();
    expect(await ledger.waits({ isOpen: true })).toMatchObject([
      { workflowId: "run-1", outcome: { problem: expect.stringContaining("retrievePayout") } },
    ]);
  });

  it("that nobody waits for any more are closed", async () => {
    await wait("run-1", "balance", "USD 1.00");
    const { client, done } = clientOf({ "run-1": "FAILED" });
    untilDue();
    await sweep(client).sweep();
    expect(done).toEqual([]);
    expect(await ledger.waits({ isOpen: true })).toEqual([]);
  });

  it("ask the service nothing where nobody waits", async () => {
    const { client } = clientOf();
    const nowhere = runtimeOver({ ...simulator, url: "http://127.0.0.1:9" });
    await expect(sweep(client, nowhere).sweep()).resolves.toBeUndefined();
  });
});

describe("the directory of payees", () => {
  it("describes the payees of payouts that nobody has described, and asks once for one that is unknown", async () => {
    const simulator = await startSimulator({ balances: { USD: "100000.00" } });
    onTestFinished(() => simulator.stop());
    const runtime = runtimeOver(simulator);
    const { beneficiary_id } = await runtime.runPromise(
      PaymentsClient.use((client) => client.createBeneficiary(beneficiary)),
    );
    const createdAt = Date.now();
    for (const payee of [beneficiary_id, "b-unknown", "b-known"])
      await putRow(ledger, {
        workflowId: payee,
        createdAt,
        state: "done",
        madeId: `p-${payee}`,
        request: { ...ROW.request, payee },
      });
    const known = { payee: "b-known", mark: "m", shown: "Known Ltd" };
    await ledger.rememberPayees(ACCOUNT, [known]);
    let calls = 0;
    const describeSome = describePayees({
      ledger,
      account: ACCOUNT,
      read: (call) => {
        calls += 1;
        return readKnown(runtime, call);
      },
    });
    await describeSome();
    await describeSome();
    expect(calls).toBe(2);
    const { mark, shown } = describeAccount(beneficiary, ledger.keyed);
    expect(shown).toMatch(/account ending in \w{4}$/);
    expect(await ledger.payees()).toMatchObject(
      [{ payee: beneficiary_id, mark, shown }, known].toSorted((one, other) =>
        one.payee < other.payee ? -1 : 1,
      ),
    );
  });
});

it("a payee whose reading fails is read after the others, again until it succeeds", async () => {
  const payees = ["b-1", "b-2", "b-3", "b-4", "b-5", "b-6", "b-7"];
  for (const payee of payees)
    await putRow(ledger, {
      workflowId: payee,
      createdAt: Date.now(),
      state: "done",
      madeId: `p-${payee}`,
      request: { ...ROW.request, payee },
    });
  let failing = 5;
  const sweep = describePayees({
    ledger,
    account: ACCOUNT,
    read: async () => {
      const of = { operation: "retrieveBeneficiary", carriedOut: "no", message: "no" } as const;
      if (failing-- > 0) throw new Unavailable({ ...of, status: 500 });
      return { ...beneficiary, beneficiary_id: "b" } as never;
    },
  });
  const described = async () => (await ledger.payees()).map((one) => one.payee);
  await expect(sweep()).rejects.toThrow("no");
  await sweep();
  expect(await described()).toEqual(expect.arrayContaining(["b-6", "b-7"]));
  await sweep();
  expect((await described()).toSorted()).toEqual(payees);
});

/** The ledger, as its clock will be when an attempt under way would have changed its row. */
const inTwoMinutes = (): Ledger => ({
  ...ledger,
  state: async () => {
    const state = await ledger.state();
    return { ...state, now: state.now + 120_000 };
  },
});

describe("nudges", () => {
  it("notify a run once of all its steps, and of none by name if one has a key", async () => {
    await putRow(ledger, { mustNotify: true, state: "done", madeId: "p-1", step: "a" });
    await putRow(ledger, { mustNotify: true, state: "done", madeId: "p-2", step: "b" });
    await putRow(ledger, {
      mustNotify: true,
      state: "done",
      madeId: "p-3",
      workflowId: "payout/k",
      ownerId: "run-2",
    });
    const { client, done } = clientOf({ "run-1": "RUNNING", "run-2": "RUNNING" });
    await notifyRuns(ledger, client, ACCOUNT);
    expect(done).toEqual([
      ["signal", "run-2", "durable-payments/nudge", {}],
      ["signal", "run-1", "durable-payments/nudge", { steps: ["a", "b"] }],
    ]);
    expect(await ledger.rows({ mustNotify: true })).toEqual([]);
  });

  it.each(["undo createCard", "undo createCard 2"])(
    "wake every step for a decision on %s, which waits under the name of the step that it undoes",
    async (step) => {
      await putRow(ledger, { mustNotify: true, step, operation: "cancelCard" });
      const { client, done } = clientOf({ "run-1": "RUNNING" });
      await notifyRuns(ledger, client, ACCOUNT);
      expect(done).toEqual([["signal", "run-1", "durable-payments/nudge", {}]]);
    },
  );

  it("stay due where another decision is recorded while the run is notified", async () => {
    await putRow(ledger, { mustNotify: true });
    const { client } = clientOf({ "run-1": "RUNNING" });
    const name = { account: ACCOUNT, workflowId: "run-1", step: "createPayout" };
    const decide = () => ledger.transact(name, ({ row }) => (row ? { row } : {}));
    const signal = async () => void (await decide());
    const deciding = {
      workflow: { getHandle: () => ({ signal }) },
    } as unknown as Client;
    await notifyRuns(ledger, deciding, ACCOUNT);
    expect(await ledger.rows({ mustNotify: true })).toHaveLength(1);
    await notifyRuns(ledger, client, ACCOUNT);
    expect(await ledger.rows({ mustNotify: true })).toEqual([]);
  });

  it("call nothing of Temporal if every run was notified: a sweep each second is not billed", async () => {
    await putRow(ledger);
    const idle = new Proxy({} as Client, {
      get: (_, name) => expect.unreachable(`Temporal was asked: ${String(name)}`),
    });
    await notifyRuns(ledger, idle, ACCOUNT);
    await putRow(ledger, { mustNotify: true, step: "b" });
    await expect(notifyRuns(ledger, idle, ACCOUNT)).rejects.toThrow("Temporal was asked");
  });
});

describe("files", () => {
  const upload = async (id: string, state: Batch["state"], rowState: BatchRowState = "waiting") => {
    const who = { createdBy: "ada", createdAt: 0, approvedBy: null };
    const file = {
      type: "payout",
      file: "november.csv",
      contentHash: "c",
      rows: 1,
      details: "{}",
      chunks: 1,
    };
    await ledger.saveBatch(id, () => ({ batch: { id, account: ACCOUNT, state, ...file, ...who } }));
    const workflowId = `payout/${id}`;
    const payment = { amount: "1.00", currency: "EUR", payee: "b-1", reference: null };
    const unread = { mark: null, shown: null, message: null };
    const row = { number: 1, workflowId, fingerprint: id, terms: "t", ...payment, ...unread };
    await ledger.saveRows(id, [{ ...row, state: rowState }]);
  };

  it("are notified of each decision, also if it was recorded while Temporal was down", async () => {
    const bob = { by: "bob", how: "--by", reason: "Drill" };
    const about = { account: ACCOUNT, workflowId: "", step: null, question: null, value: {} };
    const decided = { ...bob, ...about, kind: "approve" } as const;
    for (const id of ["payouts/1", "payouts/2"]) {
      await upload(id, "needsApproval");
      await ledger.saveBatch(id, (before) => {
        if (before === undefined) throw new Error("no batch");
        return { batch: { ...before, chunks: 2, state: "approved" }, decision: decided };
      });
    }
    const down = {
      workflow: { getHandle: () => ({ signal: () => Promise.reject(new Error("down")) }) },
    };
    await expect(notifyRuns(ledger, down as unknown as Client, ACCOUNT)).rejects.toThrow("down");
    const ids = ["payouts/1/1", "payouts/2/1", "payouts/2/2"];
    const { client, done } = clientOf(Object.fromEntries(ids.map((id) => [id, "RUNNING"])));
    await notifyRuns(ledger, client, "another account");
    expect(done).toEqual([]);
    await notifyRuns(ledger, client, ACCOUNT);
    expect(done.map(([, id]) => String(id)).toSorted((a, b) => a.localeCompare(b))).toEqual(ids);
    await notifyRuns(ledger, client, ACCOUNT);
    expect(done).toHaveLength(3);
    // The end of a pause is a decision, too.
    await ledger.pause("all", "", bob);
    await ledger.resume("all", "", bob);
    await notifyRuns(ledger, client, ACCOUNT);
    expect(done).toHaveLength(6);
  });

  it("without an open row are finished, also if the last one was retried after its workflow had ended", async () => {
    await upload("payouts/retried", "approved", "started");
    await recordRun("payout/payouts/retried");
    await finishFiles(ledger, ACCOUNT);
    expect(await ledger.batch("payouts/retried")).toMatchObject({ state: "approved" });
    await recordEnd("payout/payouts/retried", "failed");
    await finishFiles(ledger, ACCOUNT);
    expect(await ledger.batch("payouts/retried")).toMatchObject({ state: "finished" });
  });
});

it("closes the waits of ended runs; a run that is open again, or lost, keeps its own", async () => {
  for (const [workflowId, endState] of [
    ["open", null],
    ["ended", "terminated"],
    ["started-again", "failed"],
    ["lost", "missing"],
  ] as const) {
    await recordRun(workflowId);
    await wait(workflowId, "cardholder", workflowId);
    await recordEnd(workflowId, endState);
  }
  await closeLeftWaits(ledger, ACCOUNT, clientOf({ "started-again": "RUNNING" }).client);
  const left = await ledger.waits({ isOpen: true });
  expect(left.map(({ workflowId }) => workflowId).toSorted()).toEqual([
    "lost",
    "open",
    "started-again",
  ]);
});

describe("the janitor", () => {
  const sweep = (client: Client, settle: (workflowId: string) => Promise<void>) =>
    janitor({
      ledger: inTwoMinutes(),
      account: ACCOUNT,
      client,
      operations: ["createPayout"],
      warn: () => {},
      settle: ({ workflowId }) => settle(workflowId),
    })();

  /** Writes of a run that has ended in this way; null: of an open one. */
  const left = async (endState: RunEnd["endState"], changes: Partial<WriteRow>) => {
    const { workflowId = "" } = changes;
    await recordRun(workflowId);
    await putRow(ledger, changes);
    await recordEnd(workflowId, endState);
  };

  it("settles what ended and lost runs have left, and leaves open runs alone", async () => {
    await left(null, { workflowId: "open" });
    await left("failed", { workflowId: "ended", state: "sending", token: "1:x" });
    await left("failed", { workflowId: "started-again" });
    await left("failed", { workflowId: "paused-again" });
    await left("missing", { workflowId: "lost" });
    const settled: Array<string> = [];
    const { client } = clientOf({
      ended: "FAILED",
      "started-again": "RUNNING",
      "paused-again": "PAUSED",
    });
    expect(await sweep(client, async (id) => void settled.push(id))).toBeUndefined();
    expect(settled.toSorted()).toEqual(["ended", "lost"]);
  });

  it("settles the write of an ended run that a recovered ledger may have forgotten", async () => {
    for (const workflowId of ["forgotten", "again"]) await recordRun(workflowId, "20.00");
    const { now } = await ledger.state();
    await expect.poll(async () => (await ledger.state()).now).toBeGreaterThan(now);
    await ledger.recover({ by: "ada", how: "--by", reason: "lost" });
    for (const workflowId of ["forgotten", "again"]) {
      const about = { account: ACCOUNT, workflowId, step: null, question: null, value: {} };
      await ledger.decide({ ...about, kind: "end", by: "ada", how: "--by", reason: "wrong" });
    }
    const settled: Array<string> = [];
    const { client } = clientOf({ again: "RUNNING" });
    expect(await sweep(client, async (id) => void settled.push(id))).toBeUndefined();
    expect(settled).toEqual(["forgotten"]);
  });

  it("finds what ended runs have left behind any number of writes of open ones", async () => {
    for (let index = 0; index < 450; index += 1)
      await putRow(ledger, { workflowId: `open-${index}` });
    await left("failed", { workflowId: "z-ended" });
    const settled: Array<string> = [];
    await sweep(clientOf().client, async (id) => void settled.push(id));
    expect(settled).toEqual(["z-ended"]);
  });

  it.each([
    ["Cancelled", "Its response was lost.", undefined],
    ["Ended", "Order withdrawn", undefined],
    [
      "MadeTwice",
      "It was made twice.",
      "keyed (createPayout) could not be reconciled: It was made twice.",
    ],
  ])("leaves what is safe to repeat to a later run; %s", async (type, message, expected) => {
    await left("failed", { workflowId: "safe", operation: "createBeneficiary" });
    await left("failed", { workflowId: "keyed" });
    const { client } = clientOf({ safe: "FAILED", keyed: "FAILED" });
    const settled: Array<string> = [];
    const sweeping = sweep(client, async (id) => {
      settled.push(id);
      throw new StepFailed(type, message, {});
    });
    const fault = await sweeping.catch((error: unknown) => messageOf(error));
    expect([settled, fault]).toEqual([["keyed"], expected]);
  });

  it("tries each row again after a rest of its own, all at once", async () => {
    await left("failed", { workflowId: "old" });
    let passed = 0;
    const tried: Array<string> = [];
    const together = Promise.withResolvers<void>();
    const clock = { ...inTwoMinutes() };
    const sweepOnce = janitor({
      ledger: {
        ...clock,
        state: async () => {
          const state = await clock.state();
          return { ...state, now: state.now + passed };
        },
      },
      account: ACCOUNT,
      client: clientOf({ old: "FAILED", new: "FAILED", other: "FAILED" }).client,
      operations: ["createPayout"],
      warn: () => {},
      settle: async ({ workflowId }) => {
        tried.push(workflowId);
        // A reading of the list that all share.
        if (tried.length === 4) together.resolve();
        if (tried.length > 1) await together.promise;
        throw new NotYet("later", 1_000, undefined);
      },
    });
    await sweepOnce();
    expect(tried).toEqual(["old"]);
    await left("failed", { workflowId: "new" });
    await left("failed", { workflowId: "other" });
    passed += 70_000;
    await sweepOnce();
    expect(tried.slice(1).toSorted()).toEqual(["new", "old", "other"]);
    // The rest has doubled for one, and not for the others.
    passed += 70_000;
    await sweepOnce();
    expect(tried.slice(4).toSorted()).toEqual(["new", "other"]);
    // Something about it is new.
    await putRow(ledger, { workflowId: "old", version: 2 });
    await sweepOnce();
    expect(tried.slice(6)).toEqual(["old"]);
  });

  it("goes on after a row that cannot be settled, and says so; a wait for time is no fault", async () => {
    await left("failed", { workflowId: "a" });
    await left("failed", { workflowId: "b" });
    await left("failed", { workflowId: "c" });
    const { client } = clientOf({ a: "FAILED", b: "FAILED", c: "FAILED" });
    const settled: Array<string> = [];
    const sweeping = sweep(client, async (id) => {
      if (id === "a") throw new Error("no list");
      if (id === "b") throw new NotYet("later", 1_000, undefined);
      settled.push(id);
    });
    await expect(sweeping).rejects.toThrow("a (createPayout) could not be reconciled: no list");
    expect(settled).toEqual(["c"]);
  });
});

interface Tracking extends Pick<TrackerOptions, "runtime" | "turnMs"> {
  readonly account: string;
  readonly name: string;
  readonly client: Client;
}

describe("the tracker", () => {
  const track = async (
    known?: Tracked,
    heartbeatDetails?: unknown,
    { account = ACCOUNT, client = clientOf().client, name, ...options }: Partial<Tracking> = {},
  ): Promise<Tracked> => {
    const { track: activity } = makeTrackerActivities({
      runtime: runtimeOver({ url: "http://127.0.0.1:9", clientId: "c", apiKey: "k" }),
      ledger,
      account: async () => ACCOUNT,
      operations: [],
      settle: async () => {},
      turnMs: 0,
      ...options,
    });
    const input = { account, name, ...(known && { known }) };
    return attempt({ heartbeatDetails }, client).run(activity, input);
  };

  it("remembers how far the ledger has got, for the next one", async () => {
    const { mark, waiting } = await track();
    // The account is served.
    expect(await ledger.lease(trackerLease(ACCOUNT), "another", 60_000)).toBe(false);
    expect(mark).toEqual(await ledger.mark());
    expect(waiting).toBe(0);
  });

  it("notifies runs of decisions while another part is slow", async () => {
    const { client, done } = clientOf({ "run-1": "RUNNING" });
    const slow = Promise.withResolvers<void>();
    const asked = vi.spyOn(client.workflowService, "listWorkflowExecutions");
    asked.mockImplementation(async () => {
      await slow.promise;
      return { executions: [] } as never;
    });
    const tracking = track(undefined, undefined, { client, turnMs: 4_000 });
    await vi.waitFor(() => expect(asked).toHaveBeenCalled());
    await putRow(ledger, { mustNotify: true });
    await vi.waitFor(() => expect(done.map(([what]) => what)).toContain("signal"), 10_000);
    slow.resolve();
    await tracking;
  });

  it("goes on if the clock of its host is set back, and ends in time", async () => {
    const { client, done } = clientOf({ "run-1": "RUNNING", "run-2": "RUNNING" });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    onTestFinished(() => void vi.useRealTimers());
    await putRow(ledger, { mustNotify: true, workflowId: "run-1" });
    const tracking = track(undefined, undefined, { client, turnMs: 4_000 });
    await vi.waitFor(() => expect(done).toHaveLength(1));
    vi.setSystemTime(Date.now() - 3_600_000);
    await putRow(ledger, { mustNotify: true, workflowId: "run-2" });
    await tracking;
    expect(done.map(([, id]) => id)).toEqual(["run-1", "run-2"]);
  });

  it("shows by account when everything due was read", async () => {
    await track(undefined, undefined, { name: "eu" });
    const shown = formatUnsafe(Context.empty());
    expect(shown).toMatch(/^payments_tracker_read_timestamp_seconds\{account="eu"\} [\d.]+$/m);
  });

  it("stops all sends where the ledger has less than it has seen", async () => {
    const mark = await ledger.mark();
    const ahead = { ...mark, sequence: mark.sequence + 5 };
    const after = await track({ account: ACCOUNT, mark: ahead, readAt: 0, waiting: 0 });
    expect((await ledger.state()).stopped).not.toBeNull();
    // A second copy may have less than what was seen, too.
    expect(after.mark).toEqual(ahead);
  });

  it("believes the heartbeat of a killed worker, and stops where the ledger is another one", async () => {
    const mark = { ...(await ledger.mark()), ledgerId: "another" };
    await track(undefined, { account: ACCOUNT, mark, readAt: 0, waiting: 0 });
    expect((await ledger.state()).stopped).not.toBeNull();
  });

  it("is one witness of many: one of all reports an entry at once, the others with their next heartbeat", async () => {
    const other = "fedcba9876543210";
    const heartbeats = async (account: string) => {
      const { track: activity } = makeTrackerActivities({
        runtime: runtimeOver({ url: "http://127.0.0.1:9", clientId: "c", apiKey: "k" }),
        ledger,
        account: async () => account,
        operations: [],
        settle: async () => {},
        turnMs: 4_500,
      });
      const environment = attempt({}, clientOf().client);
      const seen: Array<number | undefined> = [];
      environment.on("heartbeat", (state: Tracked) => seen.push(state.mark?.sequence));
      return { run: () => environment.run(activity, { account }), seen };
    };
    const [one, two] = [await heartbeats(ACCOUNT), await heartbeats(other)];
    const running = Promise.all([one.run(), two.run()]);
    const isRunning = running.then(() => false);
    const about = { account: ACCOUNT, workflowId: "", step: null, question: null, value: {} };
    while (await Promise.race([isRunning, delay(100, true)]))
      await ledger.decide({ ...about, kind: "resume", by: "ada", how: "--by", reason: "again" });
    const ends = (await running) as ReadonlyArray<Tracked>;
    const changes = [one, two].map(({ seen }) => new Set(seen).size).toSorted((a, b) => a - b);
    // The first of each; and of one, each 2 s at most, of some forty entries.
    expect(changes).toEqual([1, expect.toSatisfy((count: number) => count === 2 || count === 3)]);
    for (const { mark } of ends) expect(mark?.sequence).toBeGreaterThan(0);
  });

  it("does no work of an account that its worker does not have", async () => {
    await expect(track(undefined, undefined, { account: "another" })).rejects.toThrow(
      "This worker has another client id for the account without a name.",
    );
  });

  it("completes the waits of one kind while the list of another fails, and says so", async () => {
    const simulator = await startSimulator({ balances: { USD: "100000.00" } });
    onTestFinished(() => simulator.stop());
    await simulator.addFault({ kind: "html-502", operation: "listPayouts", times: 1_000 });
    for (let i = 0; i < 8; i += 1) await wait(`payout-${i}`, "payout", `P-${i}`);
    await wait("run-1", "balance", "USD 1.00");
    await putRow(ledger, { mustNotify: true, state: "done", madeId: "p-1", workflowId: "run-2" });
    const { client, done } = clientOf({ "run-1": "RUNNING", "run-2": "RUNNING" });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10_000 });
    onTestFinished(() => void vi.useRealTimers());
    const warn = vi.spyOn(silent, "warn");
    const { failing } = await track(undefined, undefined, {
      client,
      runtime: runtimeOver(simulator),
    });
    expect(done.map(([what, id]) => `${what} ${String(id)}`).toSorted()).toEqual([
      "complete run-1",
      "signal run-2",
    ]);
    expect(failing?.why).toMatch(/^settled payouts: .*listPayouts.*[^.]$/);
    expect(warn.mock.calls.map(([message]) => message)).toContainEqual(
      expect.stringMatching(/^settled payouts: .*[^.]\. It tries again in \d+ ms\.$/),
    );
  });
});
