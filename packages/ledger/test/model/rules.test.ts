import { describe, expect, test, vi } from "vitest";
import { advance } from "../../src/index.ts";
import type { Call, WriteEvent, WriteRow } from "../../src/index.ts";
import type { BatchRowState, Look, NewDecision } from "../../src/store/ledger.ts";
import { scenarios } from "./scenarios.ts";
import { lookAt, start } from "./world.ts";

const setting = scenarios["paused"];
const { policy } = setting;
const empty: Look = { ...lookAt(start(setting)), pause: undefined };
const request = {
  hash: "A",
  amount: "250.00",
  currency: "EUR",
  payee: null,
  reference: null,
  facts: {},
};
const call: Call = {
  name: { account: "a", workflowId: "w", step: "s" },
  operation: "createPayout",
  request,
  runId: "r1",
  testimony: { is: "none" },
  mode: "send",
  mayAmend: false,
  startedBy: "Alice",
};
const calledBy = (change: Partial<Call> = {}): WriteEvent => ({
  who: "w",
  is: "called",
  call: { ...call, ...change },
});
const rowOf = (change: Partial<WriteRow>): WriteRow => {
  const { row } = advance(empty, { who: "w", is: "dispatching", token: "1:x", call }, policy);
  return { ...row!, version: 1, ...change };
};
const withRow = (change: Partial<WriteRow>): Look => ({ ...empty, row: rowOf(change) });

const decision = (change: Partial<NewDecision>): NewDecision => ({
  account: "a",
  workflowId: "w",
  step: "s",
  kind: "approve",
  question: null,
  by: "ada",
  how: "",
  reason: null,
  value: {},
  ...change,
});

/** What a row of an approved file pays, to its account's beneficiary or to the one that its run has created. */
const paid = { ...request, payee: "filed" };
const filed = (approvedBy: string | null, state: BatchRowState = "started"): Look["filed"][0] => ({
  state,
  approvedBy,
  amount: "250.00",
  currency: "EUR",
  payees: ["filed", "created"],
});

describe("what time, limits and undoing do", () => {
  test("the first send of an id after a recovery waits for the list since the recovery, where a repeat would do harm", () => {
    const look = { ...empty, epoch: 2, recoveredAt: empty.now - 3_600_000 };
    const { row } = advance(look, calledBy({ testimony: { is: "none" } }), policy);
    expect(row).toMatchObject({ state: "unknown", message: "The ledger was restored" });
    expect(row?.until).toBeLessThan(look.now);
  });

  test("the first send of a key after a recovery may be a repeat: a refusal of it proves nothing", () => {
    const keyed = { ...policy, repeat: "keyed", isListed: false } as const;
    const look = { ...empty, epoch: 2, recoveredAt: empty.now };
    const first = calledBy({ testimony: { is: "none" } });
    const { row } = advance(look, first, keyed);
    expect(row).toMatchObject({ state: "unknown", doubt: 1, generation: 1 });
    expect(advance({ ...look, row }, first, keyed).effect).toMatchObject({
      is: "send",
      generation: 1,
      isResend: true,
    });
  });

  test("what was undone is made anew by a later run, under the next key", () => {
    const undone = advance(
      withRow({ state: "done", madeId: "id" }),
      { who: "w", is: "undone" },
      policy,
    ).row!;
    const look = { ...empty, row: { ...undone, version: 2 } };
    expect(undone.state).toBe("undone");
    expect(
      advance(look, calledBy({ runId: "r2", testimony: { is: "version", version: 2 } }), policy)
        .effect,
    ).toMatchObject({ is: "send", generation: 2 });
    expect(advance(look, calledBy({ runId: "r2", testimony: undefined }), policy).row?.state).toBe(
      "asking",
    );
    const idempotent = { ...policy, repeat: "idempotent", isListed: false } as const;
    expect(
      advance(look, calledBy({ runId: "r2", testimony: undefined }), idempotent).row,
    ).toMatchObject({ state: "unknown", generation: 2 });
    expect(advance(look, calledBy(), policy).effect).toMatchObject({
      is: "fail",
      type: "Cancelled",
    });
  });
  test("what a run before was refused is asked about, where nothing vouches for it and an earlier step made something else", () => {
    const { effect, row } = advance(
      withRow({ state: "refused", request: { ...request, hash: "B" } }),
      calledBy({ runId: "r2", testimony: undefined }),
      policy,
    );
    expect([effect.is, row?.state, row?.question?.request]).toEqual(["again", "asking", "A"]);
  });

  test("what is closed and cannot be looked for is asked about, where nothing vouches for it", () => {
    const keyed = { ...policy, repeat: "keyed", isListed: false } as const;
    const refused = withRow({ state: "refused", runId: "r1" });
    const close = calledBy({ runId: "r2", testimony: undefined, mode: "close" });
    expect(advance(refused, close, keyed).row?.state).toBe("asking");
    expect(advance(refused, close, { ...keyed, isListed: true }).row?.state).toBe("unknown");
  });

  test("a third absence asks, the second sends again", () => {
    const absent = (absences: number, from: number | null = -20_000) =>
      advance(
        withRow({ state: "unknown", doubt: 1, from, until: -10_000, absences }),
        { who: "w", is: "evidence", version: 1, readFrom: 0, verdict: { is: "absent" } },
        policy,
      ).row?.state;
    expect([absent(1), absent(2)]).toEqual(["ready", "asking"]);
    // No answer was lost: two workers, of which neither has a voucher, looked for it at once.
    expect(absent(2, null)).toBe("ready");
  });

  test("a list that does not add up asks after 30 minutes, one that cannot be reached never", () => {
    const later = (isFaulty: boolean) =>
      advance(
        { ...withRow({ state: "unknown", doubt: 1, unprovableSince: 0 }), now: 30 * 60_000 },
        {
          who: "w",
          is: "evidence",
          version: 1,
          readFrom: 0,
          verdict: { is: "later", message: "", isFaulty, at: 0 },
        },
        policy,
      ).row?.state;
    expect([later(true), later(false)]).toEqual(["asking", "unknown"]);
  });
  test("an outage is sat out with growing waits", () => {
    const waits = [1, 3, 20].map((sends) => {
      const event: WriteEvent = {
        who: "w",
        is: "answered",
        token: "1:x",
        generation: 1,
        outcome: { is: "later", message: "" },
        call,
      };
      const { effect, row } = advance(withRow({ sends }), event, policy);
      expect(row).toMatchObject({ state: "ready", doubt: 0 });
      return effect.is === "wait" ? effect.at : undefined;
    });
    expect(waits).toEqual([1_000, 4_000, 300_000]);
  });
  test("nothing above the limit is sent, and 1000 is more than 250.00", () => {
    const limited = (limit: string) =>
      advance(
        { ...empty, limits: { maxAmounts: { EUR: limit }, approveAbove: null } },
        calledBy(),
        policy,
      ).effect.is;
    expect([limited("249.99"), limited("250"), limited("1000")]).toEqual(["fail", "send", "send"]);
  });
  test("a currency that the limits do not list is not paid, or needs approval", () => {
    const withLimits = (limits: Look["limits"]) =>
      advance({ ...empty, limits }, calledBy(), policy).effect;
    const unlisted = { USD: "1000" };
    expect(withLimits({ maxAmounts: unlisted, approveAbove: null })).toMatchObject({
      is: "fail",
      details: { reason: "limit" },
    });
    expect(withLimits({ maxAmounts: null, approveAbove: unlisted })).toMatchObject({
      is: "person",
      needs: "approval",
    });
    expect(withLimits({ maxAmounts: null, approveAbove: { EUR: "250" } }).is).toBe("send");
  });
  test("a step's own limit is weighed when it is sent, against what is sent", () => {
    const above = (approveAbove: string) =>
      [
        calledBy({ approveAbove }),
        { who: "w", is: "dispatching", token: "1:x", call: { ...call, approveAbove } } as const,
      ].map((event) => advance(empty, event, policy).effect.is);
    expect([above("249.99"), above("250")]).toEqual([
      ["person", "stop"],
      ["send", "go"],
    ]);
  });
  test("whoever asked for a payment does not approve it, however the name is written", () => {
    const approvals = { maxAmounts: null, approveAbove: { EUR: "100" } };
    const approvedBy = (by: string) => {
      const value = { generation: 1, hash: "A", account: null };
      const given = { ...decision({ kind: "approve", by, value }), sequence: 2, at: 0 };
      const row = { state: "ready", question: null } as const;
      const testimony = { is: "version", version: 1 } as const;
      const look = { ...withRow(row), startedBy: "Alice", limits: approvals, decisions: [given] };
      return advance(look, calledBy({ testimony }), policy).effect.is;
    };
    const batchBy = (by: string) =>
      advance(
        { ...empty, startedBy: "Alice", limits: approvals, filed: [filed(by)] },
        calledBy({ request: paid }),
        policy,
      ).effect.is;
    expect([approvedBy("Bob"), approvedBy(" alice "), approvedBy("Ａlice")]).toEqual([
      "send",
      "person",
      "person",
    ]);
    expect([batchBy("Bob"), batchBy("ALICE")]).toEqual(["send", "person"]);
  });
  test("whoever started a run that nobody recorded does not approve it, and nobody does where that is unknown", () => {
    const value = { generation: 1, hash: "A", account: null };
    const given = { ...decision({ kind: "approve", by: "Bob", value }), sequence: 2, at: 0 };
    const sent = (startedBy: string | undefined) => {
      const look = {
        ...withRow({ state: "ready", question: null }),
        // Whoever noted the id first is not whoever starts a run under it later.
        startedBy: "Carol",
        limits: { maxAmounts: null, approveAbove: { EUR: "100" } },
        decisions: [given],
      };
      const testimony = { is: "version", version: 1 } as const;
      return advance(look, calledBy({ startedBy, testimony }), policy).effect.is;
    };
    expect([sent("Alice"), sent("bob"), sent(undefined)]).toEqual(["send", "person", "person"]);
    const { row } = advance(
      { ...empty, startedBy: null },
      { who: "w", is: "dispatching", token: "1:x", call: { ...call, startedBy: "Alice" } },
      policy,
    );
    expect(row?.startedBy).toBe("Alice");
  });
  test("a batch's approval covers what its file pays, and nothing else under the id of a row", () => {
    const look: Look = {
      ...empty,
      limits: { maxAmounts: null, approveAbove: { EUR: "100" } },
      filed: [filed("Bob"), filed(null, "waiting")],
    };
    const sent = (change: Partial<Call["request"]>, more: Partial<Look> = {}) =>
      advance({ ...look, ...more }, calledBy({ request: { ...paid, ...change } }), policy).effect
        .is;
    expect([sent({}), sent({ amount: "250" }), sent({ payee: "created" })]).toEqual([
      "send",
      "send",
      "send",
    ]);
    const others = [{ amount: "250.01" }, { currency: "USD" }, { payee: "other" }, { payee: null }];
    expect(others.map((other) => sent(other))).toEqual(["fail", "fail", "fail", "fail"]);
    expect(sent({ amount: "250.01" }, { isAmended: true })).toBe("person");
    const unlimited = { limits: { maxAmounts: null, approveAbove: null } };
    expect(sent({ payee: "other" }, unlimited)).toBe("fail");
  });
  test("nothing is sent under the id of a file's row before its turn, or after it was rejected", () => {
    const sent = (state: BatchRowState) =>
      advance({ ...empty, filed: [filed(null, state)] }, calledBy({ request: paid }), policy).effect
        .is;
    const states = ["waiting", "rejected", "started", "failed"] as const;
    expect(states.map(sent)).toEqual(["fail", "fail", "send", "send"]);
  });
  test("an answer that does not fit leaves why it was asked, and the newest fault alone", () => {
    const version = 1;
    const evidence: WriteEvent = {
      who: "w",
      is: "evidence",
      version,
      readFrom: 0,
      verdict: { is: "unclear", message: "Two may be it.", candidates: [] },
    };
    const asked = advance(withRow({ state: "unknown", doubt: 1 }), evidence, policy).row!;
    const answered = (row: WriteRow, fault: string) => {
      const question = row.question?.id ?? null;
      const given = { ...decision({ kind: "found", question }), sequence: 1, at: 0 };
      const look = { ...empty, row: { ...row, version } };
      const read = { decision: given, id: "id", result: {}, fault, version } as const;
      return advance(look, { who: "w", is: "checked", ...read }, policy).row!;
    };
    const twice = answered(answered(asked, "There is no id1."), "There is no id2.");
    expect(twice.question?.reason).toBe("There is no id2. Two may be it.");
  });
  test("a batch's approval does not cover what was amended before it had a row", () => {
    const look = {
      ...empty,
      limits: { maxAmounts: null, approveAbove: { EUR: "100" } },
      filed: [filed("Bob")],
    };
    const amended = { ...decision({ kind: "amend", step: null }), sequence: 1, at: 0 };
    const sent = (decisions: Look["decisions"]) =>
      advance({ ...look, decisions }, calledBy({ request: paid }), policy).effect.is;
    expect([sent([]), sent([amended])]).toEqual(["send", "person"]);
  });
  test("a row is believed at the version that Temporal names, and at no other", () => {
    const row = { state: "ready", doubt: 0, version: 4, knownFrom: 3 } as const;
    const named = (version: number) =>
      advance(withRow(row), calledBy({ testimony: { is: "version", version } }), policy).effect.is;
    expect([2, 3, 4, 5].map(named)).toEqual(["again", "send", "send", "again"]);
    expect(advance(withRow(row), calledBy({ testimony: undefined }), policy).effect.is).toBe(
      "again",
    );
  });
  test("8: a look of an earlier epoch permits no dispatch", () => {
    const dispatchedBy = (token: string) =>
      advance(empty, { who: "w", is: "dispatching", token, call }, policy).effect.is;
    expect(["0:x", "1:x"].map(dispatchedBy)).toEqual(["stop", "go"]);
  });
  test("8: what a restored row has waited counts for nothing, and it excludes nothing by time", () => {
    const restored = withRow({ state: "unknown", doubt: 1, from: 0, until: -1_000, epoch: 0 });
    const { row } = advance(restored, calledBy({ testimony: undefined }), policy);
    expect(row).toMatchObject({ state: "unknown", from: null });
    expect(row?.until).toBeGreaterThan(restored.now + policy.requestTimeoutMs);
  });
  test("11: a worker whose clock is five minutes ahead does not see the lag over", () => {
    const evidence: WriteEvent = {
      who: "w",
      is: "evidence",
      version: 1,
      readFrom: 0,
      verdict: { is: "absent" },
    };
    vi.useFakeTimers({ now: Date.now() + 5 * 60_000 });
    const advanced = advance(withRow({ state: "unknown", doubt: 1, until: 0 }), evidence, policy);
    vi.useRealTimers();
    expect(advanced).toMatchObject({ row: undefined, effect: { is: "wait", at: 1_000 } });
  });
  test("3: nothing is sent under the workflow id of another account", () => {
    const { effect } = advance({ ...empty, isOfOtherAccount: true }, calledBy(), policy);
    expect(effect).toMatchObject({ is: "fail", type: "Refused" });
  });
  test("13: a worker that a newer one has overtaken sends nothing, whether it looks or is about to dispatch", () => {
    const look = { ...empty, isOutdated: true };
    const token = `${empty.epoch}:x`;
    expect(advance(look, calledBy(), policy).effect).toMatchObject({ is: "wait", isUnsent: true });
    expect(advance(look, { who: "w", is: "dispatching", token, call }, policy).effect.is).toBe(
      "stop",
    );
    expect(advance(empty, { who: "w", is: "dispatching", token, call }, policy).effect.is).toBe(
      "go",
    );
  });
  test("a success of a later generation enters a ledger that is behind", () => {
    const event: WriteEvent = {
      who: "w",
      is: "answered",
      token: "1:y",
      generation: 2,
      outcome: { is: "made", id: "id", result: {} },
      call,
    };
    expect(advance(withRow({ state: "refused", epoch: 0 }), event, policy).row).toMatchObject({
      state: "done",
      generation: 2,
      madeId: "id",
    });
  });
  test("two ids for one write are shown, and the state stays", () => {
    const event: WriteEvent = {
      who: "w",
      is: "answered",
      token: "1:y",
      generation: 1,
      outcome: { is: "made", id: "other", result: {} },
      call,
    };
    const { effect, entries, row } = advance(
      withRow({ state: "done", madeId: "id" }),
      event,
      policy,
    );
    expect([row?.state, row?.madeId, entries[0]?.what, effect.is]).toEqual([
      "done",
      "id",
      "made twice",
      "fail",
    ]);
  });
});
