import * as fc from "fast-check";
import { expect, it } from "vitest";
import { type Evidence, judge } from "../src/steps/judge.ts";

/**
 * Runs that all pay the same beneficiary the same amount, against a ledger that drops answers,
 * whose list lags, and which shows the key of a payout or not. Whatever the order of things: at
 * the end each run has paid exactly once, and knows which payout is its own.
 */

interface Payout {
  readonly id: string;
  /** The run that truly made it; nobody but the ledger knows. */
  readonly madeBy: number;
  isListed: boolean;
}

interface Run {
  readonly key: string;
  state: "idle" | "inDoubt" | "needsAttention" | "known";
  payoutId: string | undefined;
}

interface World {
  readonly showsKeys: boolean;
  readonly runs: ReadonlyArray<Run>;
  readonly ledger: Array<Payout>;
}

const RUNS = 3;

const makeWorld = (showsKeys: boolean): World => ({
  showsKeys,
  runs: Array.from({ length: RUNS }, (_, n) => ({
    key: `key-${n}`,
    state: "idle",
    payoutId: undefined,
  })),
  ledger: [],
});

const create = (world: World, run: number, isListed: boolean): Payout => {
  const payout = { id: `payout-${world.ledger.length}`, madeBy: run, isListed };
  world.ledger.push(payout);
  return payout;
};

const knows = (run: Run, payoutId: string): void => {
  run.state = "known";
  run.payoutId = payoutId;
};

/** What the look-up activity would find: the list, and the search attributes of the other runs. */
const evidenceFor = ({ ledger, runs, showsKeys }: World, me: number, late: boolean): Evidence => ({
  lookedAt: late ? 100 : 1,
  sendEndsAt: 10,
  listLagMs: 20,
  visibilityLagMs: 10,
  unreadableRows: 0,
  keyEcho: "unknown",
  candidates: ledger
    .filter(({ isListed }) => isListed)
    .map(({ id, madeBy }) => {
      const key = showsKeys ? runs[madeBy]?.key : undefined;
      // A run's key stands in its search attributes from before its first send on.
      const owner = runs.findIndex(
        (run, n) => n !== me && (run.payoutId === id || (key !== undefined && run.key === key)),
      );
      return {
        id,
        isExact: true,
        isOurs: key !== undefined && key === runs[me]?.key,
        hasOtherKey: key !== undefined && key !== runs[me]?.key,
        owner: owner === -1 ? undefined : `run-${owner}`,
        firstSeen: 1,
      };
    }),
  rivals: runs.flatMap(({ state }, n) =>
    n !== me && (state === "inDoubt" || state === "needsAttention") ? [`run-${n}`] : [],
  ),
});

type Answer = "answered" | "droppedAfter" | "droppedBefore";

const send = (world: World, me: number, answer: Answer, isListed: boolean): void => {
  const run = world.runs[me]!;
  run.state = "inDoubt";
  if (answer === "droppedBefore") return;
  const payout = create(world, me, isListed || answer === "answered");
  if (answer === "answered") knows(run, payout.id);
};

class Command implements fc.Command<object, World> {
  readonly #name: string;
  readonly #me: number;
  readonly #needs: Run["state"];
  readonly #act: (world: World, run: Run) => void;
  #world: World | undefined;

  constructor(
    name: string,
    me: number,
    needs: Run["state"],
    act: (world: World, run: Run) => void,
  ) {
    this.#name = name;
    this.#me = me;
    this.#needs = needs;
    this.#act = act;
  }

  check(): boolean {
    return true;
  }

  run(_: object, world: World): void {
    this.#world = world;
    const run = world.runs[this.#me]!;
    if (run.state === this.#needs) this.#act(world, run);
    expectAtMostOnce(world);
  }

  toString(): string {
    return `${this.#name}(run ${this.#me}, ${this.#world?.showsKeys === true ? "keys" : "no keys"})`;
  }
}

const expectAtMostOnce = ({ ledger, runs }: World): void => {
  for (const [n, run] of runs.entries()) {
    expect(ledger.filter(({ madeBy }) => madeBy === n).length).toBeLessThanOrEqual(1);
    if (run.payoutId !== undefined) {
      expect(ledger.find(({ id }) => id === run.payoutId)?.madeBy).toBe(n);
    }
  }
};

/** `late`: the list had time to catch up, so that "absent" allows another send. */
const look = (world: World, me: number, late: boolean, answer: Answer): void => {
  const run = world.runs[me]!;
  if (late) for (const payout of world.ledger) payout.isListed = true;
  const verdict = judge(evidenceFor(world, me, late));
  if (verdict._tag === "Found") knows(run, verdict.id);
  if (verdict._tag === "Unclear") run.state = "needsAttention";
  if (verdict._tag === "Absent" && late) send(world, me, answer, false);
};

/** A person looks into the ledger itself, and says what is true. */
const decide = (world: World, me: number, answer: Answer): void => {
  const mine = world.ledger.find(({ madeBy }) => madeBy === me);
  if (mine === undefined) send(world, me, answer, false);
  else knows(world.runs[me]!, mine.id);
};

const who = fc.nat({ max: RUNS - 1 });
const answers = fc.constantFrom<Answer>("answered", "droppedAfter", "droppedBefore");

const commands = fc.commands(
  [
    fc
      .tuple(who, answers, fc.boolean())
      .map(
        ([me, answer, listed]) =>
          new Command(`send ${answer}`, me, "idle", (world) => send(world, me, answer, listed)),
      ),
    who.map(
      (me) => new Command("look early", me, "inDoubt", (w) => look(w, me, false, "answered")),
    ),
    fc
      .tuple(who, answers)
      .map(
        ([me, answer]) =>
          new Command(`look late ${answer}`, me, "inDoubt", (w) => look(w, me, true, answer)),
      ),
    fc
      .tuple(who, answers)
      .map(
        ([me, answer]) =>
          new Command(`decide ${answer}`, me, "needsAttention", (w) => decide(w, me, answer)),
      ),
  ],
  { maxCommands: 40 },
);

/** Everybody comes to an end: sends are answered, lists catch up, people decide. */
const finish = (world: World): void => {
  for (const me of world.runs.keys()) {
    for (let turn = 0; turn < 4 && world.runs[me]?.state !== "known"; turn++) {
      const { state } = world.runs[me]!;
      if (state === "idle") send(world, me, "answered", true);
      if (state === "inDoubt") look(world, me, true, "answered");
      if (state === "needsAttention") decide(world, me, "answered");
    }
  }
};

it.each([true, false])(
  "pays once for each of several runs that pay alike (the list shows keys: %s)",
  (showsKeys) => {
    fc.assert(
      fc.property(commands, (sequence) => {
        const world = makeWorld(showsKeys);
        fc.modelRun(() => ({ model: {}, real: world }), sequence);
        finish(world);
        expectAtMostOnce(world);
        expect(world.runs.map(({ state }) => state)).toEqual(world.runs.map(() => "known"));
        expect(world.ledger).toHaveLength(RUNS);
      }),
      { numRuns: 2_000 },
    );
  },
);
