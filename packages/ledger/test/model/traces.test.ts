import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Model, start } from "./world.ts";
import { scenarios } from "./scenarios.ts";
import type { Setting, World } from "./world.ts";

/** Replays labels of the model, one after the other. */
const replay = (setting: Setting, labels: ReadonlyArray<string>): World => {
  const model = new Model(setting);
  return labels.reduce((world, label) => {
    const steps = model.next(world);
    const step = steps.find((one) => one.label === label);
    if (step === undefined)
      throw new Error(
        `"${label}" cannot happen; what can: ${steps.map((one) => one.label).join("; ")}`,
      );
    return step.world;
  }, start(setting));
};

const one = "attempt of run 1:";
const two = "attempt of run 2:";
const sent = ["attempt begins", `${one} called`, `${one} dispatching`];

const LEDGER_TESTS = ["ledger/test/model/traces.test.ts", "ledger/test/model/rules.test.ts"];

/** Where those of the 21 traces are tested that `advance` does not see alone: file and title. */
const ELSEWHERE: Readonly<Record<number, readonly [file: string, title: string]>> = {
  1: [
    "workflows/test/steps.test.ts",
    "serves one call: a second one fails the task, whatever the workflow catches, and sends nothing",
  ],
  2: [
    "activities/test/write/engine.test.ts",
    "returns the id of what it paid, also once its texts are pruned",
  ],
  3: [
    "activities/test/write/engine.test.ts",
    "fails in a later run of a continued chain, instead of returning what the earlier one paid",
  ],
  10: [
    "ledger/test/store/postgres-ledger.test.ts",
    "stops where a standby or another server has taken the place of its own",
  ],
  12: ["workflows/test/voucher.test.ts", "vouches for the run that was started with it"],
  16: ["workflows/test/waits.test.ts", "is not another one, whose result was delivered late"],
  17: [
    "activities/test/evidence/verdict.test.ts",
    "takes without a key only what nobody else can have made",
  ],
  19: ["control/test/decide/decide.test.ts", "the first answer wins, and an end beats it"],
  20: ["activities/test/write/own-operations.test.ts", "is undone only once its outcome is known"],
  21: [
    "activities/test/write/engine.test.ts",
    "sends nothing where the process stood still since the attempt began",
  ],
};

const PACKAGES = new URL("../../../", import.meta.url);
const textOf = (file: string) => readFileSync(new URL(file, PACKAGES), "utf8");

test("each of the 21 traces has a test", () => {
  const ledger = LEDGER_TESTS.map(textOf).join("\n");
  const missing = Array.from({ length: 21 }, (_, index) => index + 1).filter((number) => {
    const [file, title] = ELSEWHERE[number] ?? [];
    const isElsewhere = file !== undefined && title !== undefined && textOf(file).includes(title);
    return ELSEWHERE[number] === undefined ? !ledger.includes(`test("${number}: `) : !isElsewhere;
  });
  expect(missing).toEqual([]);
});

describe("traces that broke earlier versions of the table", () => {
  test("4: a copy made while paused does not reopen the belief", () => {
    const world = replay(scenarios["ledger restored"], [
      "attempt begins",
      `${one} called`,
      "copy made",
      "resumed",
      "nudged",
      "attempt begins",
      `${one} called`,
      `${one} dispatching`,
      `${one} made`,
      `${one} killed`,
      "attempt begins",
      "LEDGER RESTORED",
      `${one} called`,
    ]);
    expect(world.row?.state).toBe("unknown");
  });
  test("5: a late no settles its own send only", () => {
    const world = replay(scenarios["kills, freezes and lost answers"], [
      ...sent,
      `${one} refused`,
      `${one} frozen`,
      "attempt begins",
      `${one} called`,
      "frozen attempt of run 1: answered refused",
    ]);
    expect(world.row).toMatchObject({ state: "unknown", doubt: 1 });
  });
  test("6: a refusal of a repeat does not say that the first was not carried out", () => {
    const world = replay(scenarios["keyed: kills and lost answers"], [
      ...sent,
      `${one} made, answer lost`,
      `${one} answered lost`,
      "attempt begins",
      `${one} called`,
      `${one} dispatching`,
      `${one} refused`,
      `${one} answered refused`,
    ]);
    expect(world.row).toMatchObject({ state: "asking", doubt: 1 });
  });
  test("7: ended while unknown, then absent: not sent", () => {
    const world = replay(scenarios["ends and overrules"], [
      ...sent,
      `${one} lost`,
      `${one} answered lost`,
      "PERSON ENDS",
      "time passes",
      `${one} called`,
      `${one} reads absent`,
      `${one} enters evidence`,
    ]);
    expect(world.row?.state).toBe("ended");
  });
  test("7: ended before a row exists: not sent", () => {
    const world = replay(scenarios["ends and overrules"], [
      "attempt begins",
      "PERSON ENDS",
      `${one} called`,
    ]);
    expect(world.run).toMatchObject({ status: "failed", why: "Ended" });
  });
  test("8: a token from before a restore settles nothing", () => {
    const world = replay(scenarios["ledger restored"], [
      "attempt begins",
      "resumed",
      ...sent.slice(1),
      "copy made",
      `${one} refused`,
      "LEDGER RESTORED",
      `${one} answered refused`,
    ]);
    expect(world.row?.state).toBe("sending");
  });
  test("9: what begins unknown excludes nothing by time", () => {
    const world = replay(scenarios["without a voucher"], ["attempt begins", `${one} called`]);
    expect(world.row).toMatchObject({ state: "unknown", from: null });
  });
  test("14: an overrule voids an approval", () => {
    const world = replay(scenarios["approvals"], [
      "attempt begins",
      `${one} called`,
      "person approves",
      "PERSON ENDS",
      "nudged",
      "attempt begins",
      `${one} called`,
      "OVERRULED",
      "retried",
      "attempt begins",
      `${two} called`,
      `${two} called`,
      "time passes",
      `${two} reads absent`,
      `${two} enters evidence`,
      `${two} called`,
    ]);
    expect(world.run).toMatchObject({ status: "person", why: "approval" });
  });
  test("15: an answer for a run that reported its cancellation sends nothing", () => {
    const frozen = "frozen attempt of run 1:";
    const world = replay(scenarios["cancelled while asked"], [
      "attempt begins",
      `${one} frozen`,
      "cancelled",
      "attempt begins",
      `${one} called`,
      `${frozen} called`,
      `${frozen} reads unclear`,
      `${frozen} enters evidence`,
      "person says send again",
      `${one} called`,
      `${frozen} called`,
    ]);
    expect(world).toMatchObject({ run: { why: "Cancelled" }, attempts: [], made: [] });
  });
  test("18: a key that the service may have forgotten is not sent again", () => {
    const setting = scenarios["keyed: kills and lost answers"];
    const world = replay({ ...setting, policy: { ...setting.policy, keyLifetimeMs: -1 } }, [
      ...sent,
      `${one} lost`,
      `${one} answered lost`,
      "attempt begins",
      `${one} called`,
    ]);
    expect(world.row?.state).toBe("asking");
  });
  test("19: an end beats an answer that was not used yet", () => {
    const world = replay(scenarios["ended while asked"], [
      ...sent,
      `${one} lost`,
      `${one} answered lost`,
      `${one} called`,
      "time passes",
      `${one} reads unclear`,
      `${one} enters evidence`,
      "person says send again",
      "PERSON ENDS",
      `${one} called`,
    ]);
    expect(world.run).toMatchObject({ status: "failed", why: "Ended" });
  });
  test("a copy made while it was being sent does not bring back an old key", () => {
    const world = replay(scenarios["keyed: ledger restored, retried"], [
      ...sent,
      `${one} refused`,
      "copy made",
      `${one} answered refused`,
      "retried",
      "attempt begins",
      `${two} called`,
      `${two} dispatching`,
      `${two} made`,
      `${two} answered made`,
      "LEDGER RESTORED",
      `${two} called`,
    ]);
    expect(world.row?.state).toBe("asking");
  });
  test("what was refused takes another request in a retry, under the next key", () => {
    const world = replay(scenarios["retry with another request, not named"], [
      ...sent,
      `${one} refused`,
      `${one} answered refused`,
      "retried AMENDED",
      "attempt begins",
      `${two} called`,
      `${two} dispatching`,
      `${two} made`,
      `${two} answered made`,
    ]);
    expect(world.row).toMatchObject({ state: "done", generation: 2, request: { hash: "B" } });
  });
  test("another request beside an answered question: it is asked once more, and the answer leads to an end", () => {
    const world = replay(
      scenarios["questions and answers, started anew with another request, not named"],
      [
        ...sent,
        `${one} lost`,
        `${one} answered lost`,
        `${one} called`,
        "time passes",
        `${one} reads unclear`,
        `${one} enters evidence`,
        "person says send again",
        "started anew AMENDED",
        "attempt begins",
        `${two} called`,
        `${two} called`,
        "person says send again",
        "nudged",
        "attempt begins",
        `${two} called`,
        `${two} reads absent`,
        `${two} enters reread`,
        `${two} called`,
        `${two} dispatching`,
        `${two} made`,
        `${two} answered made`,
      ],
    );
    expect(world.row).toMatchObject({ state: "done", generation: 2, request: { hash: "B" } });
  });
});
