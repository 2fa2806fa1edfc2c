/** A guard that is taken out of the product's code, and by what it shows. */
export interface PlantedFault {
  readonly name: string;
  /** What the code does without it. */
  readonly what: string;
  readonly edits: ReadonlyArray<{
    readonly file: string;
    /** Stands in the file exactly once. */
    readonly find: string;
    readonly put: string;
  }>;
  /** Options of a chaos run that turns red. */
  readonly chaos?: readonly string[];
  /** Arguments of vitest that turn red. */
  readonly tests?: readonly string[];
}

const temperament = (fields: object): readonly string[] => [
  "--temperament",
  JSON.stringify(fields),
];

/** Every guard that is tried. */
export const plantedFaults: readonly PlantedFault[] = [
  {
    name: "near-match",
    what: "what is not exactly as it was sent is something else",
    edits: [
      {
        file: "packages/activities/src/near-match.ts",
        find: `return fields.every((field) => field === "same") ? "exact" : "near";`,
        put: `return fields.every((field) => field === "same") ? "exact" : "different";`,
      },
    ],
    tests: ["--project=@durable-payments/activities", "look-up"],
    chaos: [
      "--seed",
      "401",
      ...temperament({ payoutKeys: "dropped", texts: "upper", amounts: "grouped" }),
    ],
  },
  {
    name: "list-guard",
    what: "a list that does not add up is believed",
    edits: [
      {
        file: "packages/api-core/src/client/list-guard.ts",
        find: `    if (this.#fault !== undefined) return this.#fault;
    if (isNewestFirst`,
        put: `    if (this.#fault !== "") return undefined;
    if (isNewestFirst`,
      },
      {
        file: "packages/api-core/src/client/list-guard.ts",
        find: `    if (this.#fault !== undefined) return this.#fault;
    // What is added`,
        put: `    if (this.#fault !== "") return undefined;
    // What is added`,
      },
      {
        file: "packages/api-core/src/client/list-guard.ts",
        find: `  get pageFault(): string | undefined {
    return this.#fault;`,
        put: `  get pageFault(): string | undefined {
    return this.#fault === "" ? "" : undefined;`,
      },
      {
        file: "packages/activities/src/whole-list.ts",
        find: `    if (this.#fault !== undefined) return this.#fault;`,
        put: `    if (this.#fault !== "") return undefined;`,
      },
    ],
    tests: ["--project=@durable-payments/api-core", "list-guard"],
    chaos: ["--seed", "402", ...temperament({ nullLists: 0.3, omittedRows: 0.3 })],
  },
  {
    name: "journal",
    what: "no send is written down before it is sent",
    edits: [
      {
        file: "packages/activities/src/guarded-send.ts",
        find: `    if (send === undefined) return;
    if (this.#begun === undefined) await this.#begin(send);`,
        put: `    if (send !== undefined || send === undefined) return;
    if (this.#begun === undefined) await this.#begin(send);`,
      },
    ],
    tests: ["--project=@durable-payments/activities", "journal", "dispatch", "guard"],
    chaos: ["--seed", "403", "--restore", ...temperament({})],
  },
  {
    name: "pause-before-dispatch",
    what: "a pause is not asked for before a dispatch",
    edits: [
      {
        file: "packages/activities/src/guarded-send.ts",
        find: `    if (pause !== undefined) {
      throw`,
        put: `    if (pause !== undefined && operation === "ping") {
      throw`,
      },
    ],
    tests: ["--project=@durable-payments/activities", "brake", "dispatch", "guard"],
    chaos: ["--seed", "404", ...temperament({})],
  },
  {
    name: "run-before-dispatch",
    what: "whether the run is open still is not asked for before what waited is sent",
    edits: [
      {
        file: "packages/activities/src/guarded-send.ts",
        find: `isAtOnce ? "open" : answerOf(`,
        put: `isAtOnce || operation !== "ping" ? "open" : answerOf(`,
      },
    ],
    tests: ["--project=@durable-payments/activities", "guarded-send"],
    chaos: ["--seed", "411", ...temperament({})],
  },
  {
    name: "own-steps",
    what: "what another step of the same run owns, or may own, is nobody's",
    edits: [
      {
        file: "packages/workflows/src/steps/reconcile.ts",
        find: `  const siblings = run.siblings(step);`,
        put: `  const siblings = run.siblings(step).slice(0, 0);`,
      },
    ],
    tests: ["--project=@durable-payments/workflows", "reconciling"],
    chaos: ["--seed", "405", ...temperament({ payoutKeys: "dropped" })],
  },
  {
    name: "first-seen",
    what: "one that is listed may be taken before another run can be seen to own it",
    edits: [
      {
        file: "packages/workflows/src/steps/judge.ts",
        find: `  if (lookedAt < claimed) return { _tag: "Undecided", lookAgainAt: claimed };`,
        put: `  if (claimed < 0) return { _tag: "Undecided", lookAgainAt: claimed };`,
      },
    ],
    tests: ["--project=@durable-payments/workflows", "judge.test"],
    chaos: ["--seed", "406", ...temperament({ payoutKeys: "dropped" })],
  },
  {
    name: "signal-confirmation",
    what: "a signal that says that a payout has ended is believed",
    edits: [
      {
        file: "packages/workflows/src/steps/await-completion.ts",
        find: `      return seen.outcome === "open" ? undefined : seen;`,
        put: `      return { ...seen, outcome: "completed" };`,
      },
    ],
    tests: ["--project=@durable-payments/workflows", "ends-of-waits", "tracker.test"],
    chaos: ["--seed", "407", ...temperament({})],
  },
  {
    name: "abandoned",
    what: "runs that people ended are part of the retry of all that failed",
    edits: [
      {
        file: "packages/operations/src/history/ending-decisions.ts",
        find: `  decisions.filter(({ overruled }) => overruled === undefined);`,
        put: `  decisions.filter(() => false);`,
      },
    ],
    tests: ["--project=@durable-payments/operations", "retry/plan"],
    chaos: ["--seed", "408", ...temperament({})],
  },
  {
    name: "forgotten-sends",
    what: "a run that ends does not ask what it has sent before its history was put back",
    edits: [
      {
        file: "packages/workflows/src/run/run-state.ts",
        find: `    await this.#doubtForgotten();`,
        put: `    if (!isCancellation(error)) await this.#doubtForgotten();`,
      },
    ],
    tests: ["--project=@durable-payments/workflows", "ended-in-doubt", "explorer"],
    chaos: ["--seed", "409", "--restore", ...temperament({})],
  },
  {
    name: "undone",
    what: "what was undone is not remembered, and is taken for what stands",
    edits: [
      {
        file: "packages/activities/src/guarded-send.ts",
        find: `      undoes === undefined ? undefined : this.#note(() => journal.noteUndone(undoes)),
`,
        put: "",
      },
    ],
    tests: ["--project=@durable-payments/activities", "forgotten-sends", "waiting"],
    chaos: ["--seed", "410", "--restore", ...temperament({})],
  },
];
