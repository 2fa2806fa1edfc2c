import { describe, expect, test, vi } from "vitest";
import { advance } from "../../src/index.ts";
import type { Call, Verdict, WriteEvent, WriteRow } from "../../src/index.ts";
import { endedRow, LEAVES_WITHIN_MS } from "../../src/model/row-changes.ts";
import type { Look } from "../../src/store/ledger.ts";
import { call, calledBy, decision, empty, policy, request, withRow } from "./calls.ts";

describe("what time, limits and undoing do", () => {
  test("the first send of an id after a recovery waits for the list since the recovery, where a repeat would do harm", () => {
    const look = { ...empty, epoch: 2, recoveredAt: empty.now - 3_600_000, wasBehind: true };
    const { row } = advance(look, calledBy({ testimony: { is: "none" } }), policy);
    expect(row).toMatchObject({ state: "unknown", message: "The ledger was restored" });
    expect(row?.until).toBeLessThan(look.now);
    const alone = advance({ ...look, wasBehind: false }, calledBy(), policy);
    expect(alone.row?.message).toBe("Temporal was lost and recovered");
  });

  describe("an end of what nothing vouches for is reconciled: the list says whether it was sent", () => {
    const end = { ...decision({ kind: "end", step: null, reason: "wrong" }), sequence: 1, at: 0 };
    const look: Look = { ...empty, epoch: 2, recoveredAt: empty.now, end, sequence: 1 };
    const called = (row: WriteRow | undefined) =>
      advance({ ...look, row }, calledBy({ testimony: { is: "none" } }), policy).row;
    const read = (row: WriteRow | undefined, verdict: Verdict) => {
      const given = { ...row!, version: 1 };
      const now = (given.until ?? 0) + policy.listLagMs;
      const event = { who: "w", is: "evidence", version: 1, readFrom: now, verdict } as const;
      return advance({ ...look, row: given, now }, event, policy).row;
    };

    test("a listed row that may be another request of this step is named in the question", () => {
      const others = [{ payout_id: "p-1", amount: "5.00" }];
      expect(read(called(undefined), { is: "absent", others })?.question).toMatchObject({
        reason: expect.stringContaining("a listed row may be another request of this step"),
        candidates: others,
      });
    });

    test.each([
      ["without a row", undefined],
      ["never sent before the recovery", withRow({ state: "ready", doubt: 0, sends: 0 }).row],
      ["refused before the recovery", withRow({ state: "refused", doubt: 0, runId: "r0" }).row],
    ])("%s", (_, row) => {
      const unknown = called(row);
      expect(unknown).toMatchObject({ state: "unknown", from: null });
      expect(read(unknown, { is: "absent" })).toMatchObject({ state: "ended", doubt: 0 });
      const found = { is: "found", id: "id", result: {}, by: "key" } as const;
      expect(read(unknown, found)).toMatchObject({ state: "done", madeId: "id" });
      // The end is older than the question, and does not answer it.
      const asking = read(unknown, { is: "unclear", message: "Two.", candidates: [] });
      expect(asking?.state).toBe("asking");
      const asked = { ...look, row: { ...asking!, version: 2 } };
      const again = advance(asked, calledBy(), policy);
      expect([again.row, again.action]).toEqual([
        undefined,
        expect.objectContaining({ is: "fail", type: "Ended" }),
      ]);
      const later = { ...asked, end: { ...end, sequence: 2 } };
      expect(advance(later, calledBy(), policy).row).toMatchObject({ state: "ended", doubt: 1 });
    });

    test("a decision alone makes it unknown, so that the janitor finds it without a run", () => {
      const row = withRow({ state: "ready", doubt: 0, sends: 0 }).row!;
      expect(endedRow(row, look, "wrong")).toMatchObject({
        state: "unknown",
        doubt: 1,
        from: null,
      });
      expect(endedRow(row, { ...look, epoch: 1 }, "wrong")).toMatchObject({
        state: "ended",
        doubt: 0,
      });
    });
  });

  test("the first send of a key after a recovery may be a repeat: a refusal of it proves nothing", () => {
    const keyed = { ...policy, repeat: "keyed", isListed: false } as const;
    const look = { ...empty, epoch: 2, recoveredAt: empty.now };
    const first = calledBy({ testimony: { is: "none" } });
    const { row } = advance(look, first, keyed);
    expect(row).toMatchObject({ state: "unknown", doubt: 1, generation: 1 });
    expect(advance({ ...look, row }, first, keyed).action).toMatchObject({
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
        .action,
    ).toMatchObject({ is: "send", generation: 2 });
    expect(advance(look, calledBy({ runId: "r2", testimony: undefined }), policy).row?.state).toBe(
      "asking",
    );
    const idempotent = { ...policy, repeat: "idempotent", isListed: false } as const;
    expect(
      advance(look, calledBy({ runId: "r2", testimony: undefined }), idempotent).row,
    ).toMatchObject({ state: "unknown", generation: 2 });
    expect(advance(look, calledBy(), policy).action).toMatchObject({
      is: "fail",
      type: "Cancelled",
    });
  });
  test("what a run before was refused is asked about, where nothing vouches for it and an earlier step made something else", () => {
    const { action, row } = advance(
      withRow({ state: "refused", request: { ...request, hash: "B" } }),
      calledBy({ runId: "r2", testimony: undefined }),
      policy,
    );
    expect([action.is, row?.state, row?.question?.request]).toEqual(["again", "asking", "A"]);
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
      const { action, row } = advance(withRow({ sends }), event, policy);
      expect(row).toMatchObject({ state: "ready", doubt: 0 });
      return action.is === "wait" ? action.at : undefined;
    });
    expect(waits).toEqual([1_000, 4_000, 300_000]);
  });
  test("nothing above the limit is sent, and 1000 is more than 250.00", () => {
    const limited = (limit: string) =>
      advance(
        { ...empty, limits: { maxAmounts: { EUR: limit }, approveAbove: null, since: 0 } },
        calledBy(),
        policy,
      ).action.is;
    expect([limited("249.99"), limited("250"), limited("1000")]).toEqual(["fail", "send", "send"]);
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
  test("a row is believed at the version that Temporal names, and at no other", () => {
    const row = { state: "ready", doubt: 0, version: 4, knownFrom: 3 } as const;
    const named = (version: number) =>
      advance(withRow(row), calledBy({ testimony: { is: "version", version } }), policy).action.is;
    expect([2, 3, 4, 5].map(named)).toEqual(["again", "send", "send", "again"]);
    expect(advance(withRow(row), calledBy({ testimony: undefined }), policy).action.is).toBe(
      "again",
    );
  });
  describe("another attempt may be sending it: nobody takes over, and nothing changes, until it cannot send any more", () => {
    const otherwise = { testimony: undefined, ownerId: "v" } as const;
    test.each([
      ["about to send", { state: "ready", doubt: 0 }, LEAVES_WITHIN_MS],
      ["sending", { state: "sending" }, LEAVES_WITHIN_MS + policy.requestTimeoutMs],
    ] as const)("%s", (_, row, endsAfterMs) => {
      const after = (ms: number) => {
        const changedAt = empty.now - ms;
        return advance(withRow({ ...row, changedAt }), calledBy(otherwise), policy);
      };
      for (const ms of [0, endsAfterMs - 1, 1 - endsAfterMs])
        expect(after(ms)).toMatchObject({ row: undefined, entries: [], action: { is: "wait" } });
      // The clock may have been set back.
      for (const ms of [endsAfterMs, -endsAfterMs])
        expect(after(ms).row).toMatchObject({ state: "unknown" });
    });
    test("but not another attempt of the same workflow, or after a restore, or what may be repeated", () => {
      const stateOf = (look: Look, change: Partial<Call>, of = policy) =>
        advance(look, calledBy({ ...otherwise, ...change }), of).row?.state;
      const sending = withRow({ state: "sending" });
      expect(stateOf(sending, { ownerId: "w" })).toBe("unknown");
      expect(stateOf(withRow({ state: "ready", doubt: 0 }), { ownerId: "w" })).toBe("unknown");
      expect(stateOf({ ...sending, epoch: 2 }, {})).toBe("unknown");
      expect(stateOf(sending, {}, { ...policy, repeat: "idempotent" })).toBe("unknown");
    });
  });
  test("8: a look of an earlier epoch permits no dispatch", () => {
    const dispatchedBy = (token: string) =>
      advance(empty, { who: "w", is: "dispatching", token, call }, policy).action.is;
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
    expect(advanced).toMatchObject({ row: undefined, action: { is: "wait", at: 1_000 } });
  });
  test("3: nothing is sent under the workflow id of another account", () => {
    const { action } = advance({ ...empty, isOfOtherAccount: true }, calledBy(), policy);
    expect(action).toMatchObject({ is: "fail", type: "Refused" });
  });
  test("13: a worker that a newer one has overtaken sends nothing, whether it looks or is about to dispatch", () => {
    const look = { ...empty, isOutdated: true };
    const token = `${empty.epoch}:x`;
    expect(advance(look, calledBy(), policy).action).toMatchObject({ is: "wait", isUnsent: true });
    expect(advance(look, { who: "w", is: "dispatching", token, call }, policy).action.is).toBe(
      "stop",
    );
    expect(advance(empty, { who: "w", is: "dispatching", token, call }, policy).action.is).toBe(
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
    const { action, entries, row } = advance(
      withRow({ state: "done", madeId: "id" }),
      event,
      policy,
    );
    expect([row?.state, row?.madeId, entries[0]?.what, action.is]).toEqual([
      "done",
      "id",
      "made twice",
      "fail",
    ]);
  });
});
