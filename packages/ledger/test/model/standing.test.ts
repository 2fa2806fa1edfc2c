import { expect, test } from "vitest";
import type { EndState, Question, Standing, WriteState } from "../../src/index.ts";
import { standingOfRow } from "../../src/model/standing.ts";

const questionOf = (kind: Question["kind"]): Question => ({
  id: "q",
  kind,
  reason: "why",
  candidates: [],
  account: null,
  since: 0,
});

/** Of each state: without a send of unknown outcome, with one, and behind an approval. */
const STANDINGS: Readonly<Record<WriteState, readonly [Standing, Standing, Standing]>> = {
  ready: ["open", "unknown", "approval"],
  sending: ["open", "unknown", "approval"],
  unknown: ["unknown", "unknown", "unknown"],
  asking: ["asking", "asking", "asking"],
  refused: ["refused", "refused", "approval"],
  done: ["made", "made", "made"],
  ended: ["stopped", "unknown", "stopped"],
  undone: ["undone", "undone", "approval"],
};

test.each(Object.keys(STANDINGS) as ReadonlyArray<WriteState>)(
  "a write that is %s has one standing, whatever its sends and its question are",
  (state) => {
    const of = (doubt: number, question: Question | null) =>
      standingOfRow({ state, doubt, question, operation: "createPayout", sends: 0 }, null);
    expect([of(0, null), of(1, null), of(0, questionOf("approval"))]).toEqual(STANDINGS[state]);
    // An approval of a further send does not make the earlier one planned.
    expect(of(1, questionOf("approval"))).toBe(
      state === "refused" || state === "undone" ? "approval" : STANDINGS[state][1],
    );
    expect(of(1, questionOf("outcome"))).toBe(STANDINGS[state][1]);
  },
);

test("only a payout waits for the service after it is made", () => {
  const done = { state: "done", doubt: 0, question: null, sends: 1 } as const;
  expect(standingOfRow({ ...done, operation: "createCard" }, null)).toBe("completed");
});

test("the end of a run is that of its open writes: what was under way is unknown, what was not sent is stopped", () => {
  const open = { doubt: 0, question: null, operation: "createPayout", sends: 1 };
  const of = (state: WriteState, end: EndState | null) => standingOfRow({ ...open, state }, end);
  expect([of("sending", "failed"), of("sending", "missing")]).toEqual(["unknown", "unknown"]);
  // A run that Temporal has lost is started again.
  expect([of("ready", "failed"), of("ready", "missing")]).toEqual(["stopped", "open"]);
});

test("a write that is only checked first is open, unless it was sent, its run has ended, or the ledger may lack a send", () => {
  const checked = {
    state: "unknown",
    doubt: 1,
    question: null,
    operation: "createPayout",
  } as const;
  const of = (sends: number, end: EndState | null, isWhole: boolean) =>
    standingOfRow({ ...checked, sends }, end, isWhole);
  expect(of(0, null, true)).toBe("open");
  const others = [of(1, null, true), of(0, "failed", true), of(0, "missing", true)];
  expect([...others, of(0, null, false)]).toEqual(others.concat("unknown").fill("unknown"));
});
