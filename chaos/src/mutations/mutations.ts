import { accountMutations } from "./account-mutations.ts";
import { approvalMutations } from "./approval-mutations.ts";
import type { Mutation } from "./mutation.ts";

const temperament = (fields: object): readonly string[] => [
  "--temperament",
  JSON.stringify(fields),
];

/** Every guard that is tried. */
export const mutations: readonly Mutation[] = [
  {
    name: "near-match",
    what: "what is not exactly as it was sent is something else",
    edits: [
      {
        project: "packages/activities",
        find: `return fields.every((field) => field === "same") ? "exact" : "near";`,
        put: `return fields.every((field) => field === "same") ? "exact" : "different";`,
      },
    ],
    tests: ["--project=@durable-payments/activities", "reconciliation"],
    chaos: [
      "--seed",
      "401",
      ...temperament({ payoutKeys: "dropped", texts: "upper", amounts: "grouped" }),
    ],
  },
  {
    name: "dispatcher-repeats",
    what: "a dispatcher of the caller's sends a request as often as it likes",
    edits: [
      {
        project: "packages/api-core",
        find: `    if (this.#controller !== undefined) {`,
        put: `    if (this.#status > 999) {`,
      },
    ],
    tests: ["--project=@durable-payments/api-core", "dispatcher"],
  },
  {
    name: "dispatcher-start",
    what: "what a dispatcher of the caller's never began, as far as it says, was not sent",
    edits: [
      {
        project: "packages/api-core",
        find: `!(this.#options.startIsCertain || isCertain)`,
        put: `!(this.#options.startIsCertain || !isCertain)`,
      },
    ],
    tests: ["--project=@durable-payments/api-core", "dispatcher"],
  },
  {
    name: "list-reading",
    what: "a list that does not add up is believed",
    edits: [
      {
        project: "packages/api-core",
        find: `    if (this.#fault !== undefined) return this.#fault;
    if (isNewestFirst`,
        put: `    if (this.#fault !== "") return undefined;
    if (isNewestFirst`,
      },
      {
        project: "packages/api-core",
        find: `    if (this.#fault !== undefined) return this.#fault;
    // What is added`,
        put: `    if (this.#fault !== "") return undefined;
    // What is added`,
      },
      {
        project: "packages/api-core",
        find: `  get pageFault(): string | undefined {
    return this.#fault;`,
        put: `  get pageFault(): string | undefined {
    return this.#fault === "" ? "" : undefined;`,
      },
      {
        project: "packages/activities",
        find: `    if (this.#fault !== undefined) return this.#fault;`,
        put: `    if (this.#fault !== "") return undefined;`,
      },
    ],
    tests: ["--project=@durable-payments/api-core", "list-reading"],
    chaos: ["--seed", "402", ...temperament({ nullLists: 0.3, omittedRows: 0.3 })],
  },
  {
    name: "journal",
    what: "no send is written down before it is sent",
    edits: [
      {
        project: "packages/activities",
        find: `    if (send === undefined) return;
    if (this.#begun === undefined) await this.#begin(send);`,
        put: `    if (send !== undefined || send === undefined) return;
    if (this.#begun === undefined) await this.#begin(send);`,
      },
    ],
    tests: ["--project=@durable-payments/activities", "journal", "guard"],
    chaos: ["--seed", "403", "--restore", ...temperament({})],
  },
  {
    name: "pause-before-dispatch",
    what: "a pause is not asked for before a dispatch",
    edits: [
      {
        project: "packages/activities",
        find: `    if (pause !== undefined) {
      throw`,
        put: `    if (pause !== undefined && operation === "ping") {
      throw`,
      },
    ],
    tests: ["--project=@durable-payments/activities", "pause", "guard"],
    chaos: ["--seed", "404", ...temperament({})],
  },
  {
    name: "run-before-dispatch",
    what: "whether the run is open still is not asked for before what waited is sent",
    edits: [
      {
        project: "packages/activities",
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
        project: "packages/workflows",
        find: `  const siblings = run.sends.siblings(step);`,
        put: `  const siblings = run.sends.siblings(step).slice(0, 0);`,
      },
    ],
    tests: ["--project=@durable-payments/workflows", "reconciliation"],
    chaos: ["--seed", "405", ...temperament({ payoutKeys: "dropped" })],
  },
  {
    name: "first-seen",
    what: "one that is listed may be taken before another run can be seen to own it",
    edits: [
      {
        project: "packages/workflows",
        find: `  if (readAt < ownersKnownAt) return { _tag: "Undecided", readAgainAt: ownersKnownAt };`,
        put: `  if (ownersKnownAt < 0) return { _tag: "Undecided", readAgainAt: ownersKnownAt };`,
      },
    ],
    tests: ["--project=@durable-payments/workflows", "decide-outcome"],
    chaos: ["--seed", "406", ...temperament({ payoutKeys: "dropped" })],
  },
  {
    name: "signal-confirmation",
    what: "a signal that says that a payout has ended is believed",
    edits: [
      {
        project: "packages/workflows",
        find: `readLocally: () => localReadings.checkPayout.executeWithOptions(reading, [asked]),`,
        put: `readLocally: async () => {
          const seen = await localReadings.checkPayout.executeWithOptions(reading, [asked]);
          const payout = { ...seen.payout, complete_time: "2026-01-01T00:00:00Z" };
          return { outcome: "completed" as const, payout };
        },`,
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
        project: "packages/operations",
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
        project: "packages/workflows",
        find: `    await this.sends.markForgotten();`,
        put: `    if (!isCancellation(error)) await this.sends.markForgotten();`,
      },
    ],
    tests: ["--project=@durable-payments/workflows", "ended-in-doubt", "explorer"],
    chaos: ["--seed", "409", "--restore", ...temperament({})],
  },
  {
    name: "undone",
    what: "what was undone is not remembered, and is taken for what still exists",
    edits: [
      {
        project: "packages/activities",
        find: `      undoes === undefined ? undefined : this.#note(() => journal.noteUndone(undoes)),
`,
        put: "",
      },
    ],
    tests: ["--project=@durable-payments/activities", "waiting"],
    chaos: ["--seed", "410", "--restore", ...temperament({})],
  },
  {
    name: "swapped-chunk",
    what: "a chunk of a batch is paid, whoever has written it",
    edits: [
      {
        project: "packages/activities",
        find: `  if (!isChunk(rows) || hashOfRows(rows.map((row) => canonicalJson(row))) !== hash) {`,
        put: `  if (!isChunk(rows)) {`,
      },
    ],
    tests: ["--project=@durable-payments/workflows", "forged-batches"],
  },
  {
    name: "planted-row",
    what: "a run under the id of a row is taken for the row's, whatever it pays",
    edits: [
      {
        project: "packages/activities",
        find: `  return paysRow(row, started);`,
        put: `  return started !== row;`,
      },
    ],
    tests: ["--project=@durable-payments/workflows", "forged-batches"],
  },
  {
    name: "look-alike",
    what: "a name in letters of another script is a second person",
    edits: [
      {
        project: "packages/protocol",
        find: `LATIN.get(letter) ?? letter`,
        put: `LATIN.get("") ?? letter`,
      },
    ],
    tests: ["--project=@durable-payments/protocol", "person"],
  },
  {
    name: "sent-after-undone",
    what: "what was sent after something that was undone or replaced counts as never sent",
    edits: [
      {
        project: "packages/operations",
        find: `  const attempts = lastGone === -1 || since.length === 0 ? all : since;`,
        put: `  const attempts = since.length >= 0 ? all : since;`,
      },
    ],
    tests: ["--project=@durable-payments/operations", "retry/plan"],
  },
  {
    name: "amendment-checked",
    what: "an amendment is taken before the contract has checked it",
    edits: [
      {
        project: "packages/workflows",
        find: `      await asked.check(resolution.amend);
      asked.resolution = resolution;`,
        put: `      await asked.check(resolution.amend).catch(() => undefined);
      asked.resolution = resolution;`,
      },
    ],
    tests: ["--project=@durable-payments/workflows", "human-tasks"],
  },
  {
    name: "cardholder-replaced",
    what: "a cardholder is replaced although a card may have been issued for them",
    edits: [
      {
        project: "packages/operations",
        find: `  return isUsed || isAmong(gone, kind, sent.id) ? undefined : sent.id;`,
        put: `  return isUsed && isAmong(gone, kind, sent.id) ? undefined : sent.id;`,
      },
    ],
    tests: ["--project=@durable-payments/operations", "retry/plan"],
  },
  {
    name: "answer-of-another",
    what: "an answer that names what another run has made is believed",
    edits: [
      {
        project: "packages/activities",
        find: `if (other !== undefined) {
            const by =`,
        put: `if (other !== undefined && name !== "createPayout") {
            const by =`,
      },
    ],
    tests: ["--project=@durable-payments/activities", "guarded-send"],
  },
  {
    name: "histories-of-earlier-runs",
    what: "what the journal does not have was not sent by earlier runs of the workflow id",
    edits: [
      {
        project: "packages/activities",
        find: `    if (knowsEarlierRuns) return;`,
        put: `    if (knowsEarlierRuns || operation !== "") return;`,
      },
    ],
    tests: ["--project=@durable-payments/activities", "guarded-send"],
  },
  {
    name: "instruction-without-journal",
    what: "what the instruction of a retry says that a step has made is believed",
    edits: [
      {
        project: "packages/workflows",
        find: `if (!(await localJournal.hasMade(made))) givenBy = run.retriedBy;`,
        put: `if (!(await localJournal.hasMade(made))) givenBy = undefined;`,
      },
    ],
    tests: ["--project=@durable-payments/workflows", "approved-payee"],
  },
  {
    name: "payment-of-another-run",
    what: "a run that continues another one takes that one's payment for its own",
    edits: [
      {
        project: "packages/activities",
        find: `if (relation === "other" && !(isSameRequest && MOVE_NO_MONEY.has(send.operation))) {`,
        put: `if (relation === "other" && !isSameRequest && MOVE_NO_MONEY.has(send.operation)) {`,
      },
    ],
    tests: ["--project=@durable-payments/operations", "own-workflows/continued"],
  },
  ...approvalMutations,
  ...accountMutations,
];
