import type { ReadReset } from "@durable-payments/activities";
import { isRecord } from "@durable-payments/api-core/values";
import {
  type EndingDecision,
  instructionIdOf,
  isInputShaped,
  isOwnSend,
  mergePatch,
  ownershipKeys,
  type Replacement,
  type RetryInstruction,
  type Sending,
} from "@durable-payments/protocol";
import { allDecisions } from "./ending-decisions.ts";
import type { PastStep, ReadRun } from "./run-history.ts";
import { type PastSend, sendsOf, undoneBy } from "./sends.ts";
import type { SentByOther } from "./sent-by-others.ts";
import type { KeptSettlement } from "./settlement.ts";

/** A run of a workflow id, read. */
export type ReadPastRun = ReadRun & {
  readonly runId: string;
  /** Whether it was started on its own under the same id: with an input that is none of the latest run's. */
  readonly hasOtherInput?: true;
};

/** What all runs of a workflow id have done, and what people decided about them. */
export interface ExecutionHistory {
  /** The steps of the latest run, in order; last the one at which it was to go on, where it did not. */
  readonly steps: ReadonlyArray<PastStep>;
  /** Whether the latest run was made by a reset, and ended before it began a step. */
  readonly isUnbegun: boolean;
  /** What its runs own, or have owned. */
  readonly owned: ReadonlySet<string>;
  readonly sends: ReadonlyMap<string, PastSend>;
  /** What was undone after the failure, by kind: `card:ID`, `cardholder:ID`. */
  readonly undone: ReadonlySet<string>;
  /** What was to be undone, and nobody knows whether it was; also by kind. */
  readonly undoing: ReadonlySet<string>;
  /** What people have another made of in its place, and has not been undone. */
  readonly replaced: ReadonlyArray<Replacement>;
  /** What does not count any more, by kind: it was undone, or is replaced. */
  readonly gone: ReadonlySet<string>;
  /** What the first run was started with. */
  readonly startedWith: unknown;
  /** The same with all amendments since. */
  readonly input: unknown;
  readonly amendedBy: ReadonlyArray<string>;
  /** The account that its runs were pinned to, as a hash. */
  readonly account: string | undefined;
  /** Decisions of people that ended runs of this id, oldest first. */
  readonly decisions: ReadonlyArray<EndingDecision>;
  /** Who asked the latest run to end, where somebody did. */
  readonly cancelAsked: ReadRun["cancelAsked"];
  /** What other runs of its id have sent; only of a run that has begun no step. */
  readonly sentByOthers?: ReadonlyArray<SentByOther>;
  /** What people found out about sends of unknown outcome, in the order of the runs. */
  readonly settlements: ReadonlyArray<KeptSettlement>;
}

/** The amendment of a person to one step, as one of the run's input. */
const asInput = (
  input: unknown,
  { beside, input: part, operation }: Sending,
  amend: Readonly<Record<string, unknown>>,
): unknown => {
  // The request of an operation of a user's own is no part of the input.
  if (!isRecord(input) || isOwnSend(operation)) return input;
  if (isInputShaped(operation, amend)) {
    const ofInput = Object.entries(amend).filter(([name]) => name !== beside || name in input);
    return mergePatch(input, Object.fromEntries(ofInput));
  }
  // In histories of before it has the shape of the request.
  const { beneficiary_id, ...fields } = amend;
  return {
    ...input,
    ...("beneficiary_id" in input && beneficiary_id !== undefined && { beneficiary_id }),
    [part]: { ...(isRecord(input[part]) ? input[part] : {}), ...fields },
  };
};

const isInstruction = (value: unknown): value is RetryInstruction =>
  isRecord(value) && isRecord(value["sent"]);

/** Its name is bound to the activity's result: under another one an amendment would be lost. */
export const INSTRUCTION = "instruction" satisfies keyof ReadReset;

/** The retry instruction that a run has found about its reset. */
const instructionOf = (answer: unknown): RetryInstruction | undefined => {
  const instruction = isRecord(answer) ? answer[INSTRUCTION] : undefined;
  return isInstruction(instruction) ? instruction : undefined;
};

/** Whether the run's worker has refused what the input was amended to: it stays as it was. */
const isRefused = (answer: unknown): boolean =>
  isRecord(answer) && ("refused" satisfies keyof ReadReset) in answer;

/** The retry instructions that runs have taken up, oldest first. */
const instructionsOf = (runs: ReadonlyArray<ReadRun>): Array<RetryInstruction> =>
  runs.flatMap(({ changes }) =>
    changes.flatMap((change) =>
      change.by === "reset" ? (instructionOf(change.answer) ?? []) : [],
    ),
  );

/** The input with all amendments: of earlier retries, and of people whom a run has asked. */
const amendedInput = (runs: ReadonlyArray<ReadRun>, sends: ReadonlyMap<string, PastSend>) => {
  const startedWith = runs[0]?.startedWith;
  const amendedBy = new Set<string>();
  let input = startedWith;
  for (const change of runs.flatMap(({ changes }) => changes)) {
    if (change.by === "reset") {
      const instruction = instructionOf(change.answer);
      if (instruction === undefined || isRefused(change.answer)) continue;
      input = instruction.input ?? input;
      for (const name of instruction.amendedBy) amendedBy.add(name);
    } else {
      const { amend, by } = change.decision;
      const kind = sends.get(change.step)?.kind;
      if (kind === undefined || !isRecord(amend)) continue;
      input = asInput(input, kind, amend);
      amendedBy.add(String(by));
    }
  }
  return { startedWith, input, amendedBy: [...amendedBy] };
};

/** Whether a run was made by a reset, and has done nothing since. */
const isUnbegun = ({ reset, steps }: ReadRun): boolean =>
  reset !== undefined && steps.every(({ task }) => task < Number(reset.task));

/**
 * The steps of a run that a reset made. Where it was asked to end before it began one, the first that it
 * began after that begins with the reset: from there it can go on without the request to end.
 */
const stepsSinceReset = ({ cancelAsked, reset, steps }: ReadRun): ReadonlyArray<PastStep> => {
  if (reset === undefined || cancelAsked === undefined) return steps;
  const at = Number(reset.task);
  const first = steps.find(({ task }) => task > at);
  return first === undefined || cancelAsked.event < at || first.task < cancelAsked.event
    ? steps
    : steps.map((step) => (step === first ? { ...step, task: at, taskEnd: reset.task } : step));
};

/** The step at which a run was to go on that ended before it did: by its instruction, or the first of all. */
const unbegunSteps = (runs: ReadonlyArray<ReadRun>): ReadonlyArray<PastStep> => {
  const run = runs.at(-1);
  const { reset } = run ?? {};
  if (run === undefined || reset === undefined || !isUnbegun(run)) return [];
  const from =
    instructionIdOf(reset.reason) === undefined ? undefined : instructionsOf([run]).at(-1)?.from;
  const first = run.steps.length === 0 ? runs.flatMap(({ steps }) => steps).at(0)?.name : undefined;
  const name = from ?? first;
  if (name === undefined || run.steps.some((step) => step.name === name)) return [];
  const { task: taskEnd } = reset;
  return [{ name, task: Number(taskEnd), taskEnd, activities: [], decisions: [] }];
};

/** What the histories of all runs of a workflow id say, the latest last. */
export const executionHistoryOf = (runs: ReadonlyArray<ReadPastRun>): ExecutionHistory => {
  const { undoing, undone } = undoneBy(runs);
  const instructions = instructionsOf(runs);
  const kinds = new Map(sendsOf(runs, undone));
  const keysOf = ({ id, step }: Replacement): ReadonlyArray<string> =>
    ownershipKeys({ [kinds.get(step)?.kind.idField ?? ""]: id });
  const given = instructions.flatMap(({ replaced }) => replaced ?? []);
  const givenKeys = new Set(given.flatMap(keysOf));
  const gone = new Set([...undone, ...givenKeys]);
  const sends = sendsOf(runs, gone);
  // What was said last of each counts.
  const replaced = [...new Map(given.map((each) => [each.id, each])).values()].filter(
    (each) => !keysOf(each).some((key) => undone.has(key)),
  );
  const latest = runs.at(-1);
  return {
    steps: [...(latest === undefined ? [] : stepsSinceReset(latest)), ...unbegunSteps(runs)],
    owned: new Set(runs.flatMap(({ ids }) => [...ids])),
    isUnbegun: latest !== undefined && isUnbegun(latest),
    sends,
    settlements: [],
    undone,
    undoing: new Set([...undoing].filter((key) => !givenKeys.has(key))),
    replaced,
    gone,
    ...amendedInput(
      runs.filter(({ hasOtherInput }) => hasOtherInput !== true),
      sends,
    ),
    account: runs.findLast(({ account }) => account !== undefined)?.account,
    decisions: allDecisions(
      runs.flatMap(({ endedBy, runId }) => (endedBy === undefined ? [] : [{ ...endedBy, runId }])),
      instructions,
    ),
    cancelAsked: latest?.cancelAsked,
  };
};
