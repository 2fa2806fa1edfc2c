import type { ReadReset } from "@durable-payments/activities";
import { type RunExecution, RunRelations } from "@durable-payments/activities/run-relation";
import { isRecord } from "@durable-payments/api-core/values";
import {
  type EndingDecision,
  instructionIdOf,
  isInputShaped,
  isNotFound,
  isOwnSend,
  mergePatch,
  runsOfIdQuery,
  ownershipKeys,
  type Replacement,
  type RetryInstruction,
  type Sending,
} from "@durable-payments/protocol";
import { type WorkflowExecutionDescription, WorkflowNotFoundError } from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";
import { refused } from "../errors.ts";
import { allDecisions } from "./ending-decisions.ts";
import { readRun } from "./read-run.ts";
import { readInput } from "./read-input.ts";
import type { PastStep, ReadRun } from "./run-history.ts";
import { type PastSend, sendsOf, undoneBy } from "./sends.ts";
import type { SentByOther } from "./sent-by-others.ts";
import { type KeptSettlement, readSettlement } from "./settlement.ts";

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
const INSTRUCTION = "instruction" satisfies keyof ReadReset;

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

/**
 * A run with the instruction of its retry, where it ended before it took that up: what was amended, and who
 * was overruled, holds for what goes on with it.
 *
 * @throws Refused where the instruction is gone
 */
const withInstruction = async (temporal: Temporal, run: ReadPastRun): Promise<ReadPastRun> => {
  const { changes, reset, runId } = run;
  const workflowId = instructionIdOf(reset?.reason ?? "");
  const isTaken = changes.some(
    ({ by, ...change }) => by === "reset" && "answer" in change && askedBy(change.answer, runId),
  );
  if (workflowId === undefined || isTaken) return run;
  try {
    const answer = { runId, [INSTRUCTION]: await readInput(temporal, { workflowId }) };
    return { ...run, changes: [...changes, { by: "reset", answer }] };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw refused(
      `How ${runId}, an earlier run of this id, was to be retried is not known any more: its instruction is gone. Nothing was done. Check with the service what was paid before you pay it in another way.`,
    );
  }
};

/** Whether a run asked about its reset itself; its history has the answers to those that it was reset from. */
const askedBy = (answer: unknown, runId: string): boolean =>
  isRecord(answer) && (answer["runId"] ?? runId) === runId;

const historyOf = async (
  temporal: Temporal,
  workflowId: string,
  runId: string,
): Promise<ReadPastRun> => {
  try {
    const handle = temporal.client.workflow.getHandle(workflowId, runId);
    return await withInstruction(temporal, { ...readRun(await handle.fetchHistory()), runId });
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    throw refused(
      `The history of ${runId}, an earlier run of ${workflowId}, is gone, so it is not known what it has sent. Nothing was done. Check with the service what was paid before you pay it in another way.`,
    );
  }
};

/** Read the input of a run with all amendments to it, by its own history, which has those of before its reset. */
export const readAmendedInput = async (
  temporal: Temporal,
  { runId, workflowId }: { readonly workflowId: string; readonly runId: string },
): Promise<unknown> => executionHistoryOf([await historyOf(temporal, workflowId, runId)]).input;

/** The other runs of the workflow id: of those that do something else, as this one continues them, only where all are wanted. */
const readOthers = async (
  temporal: Temporal,
  own: RunExecution,
  known: Pick<ReadonlySet<string>, "has">,
  which: "all" | "own",
): Promise<ReadonlyArray<ReadPastRun>> => {
  const { client } = temporal;
  const { workflowId } = own;
  const relations = new RunRelations(client);
  const others: Array<ReadPastRun> = [];
  for await (const other of client.workflow.list({ query: runsOfIdQuery(workflowId) })) {
    const { runId } = other;
    if (other.workflowId !== workflowId || known.has(runId)) continue;
    const relation = await relations.relate(own, { workflowId, runId });
    if (relation === "other" && which === "own") continue;
    const hasOtherInput = relation === "other" || relation === "again";
    const run = await historyOf(temporal, workflowId, runId);
    others.push({ ...run, ...(hasOtherInput && { hasOtherInput }) });
  }
  return others;
};

/**
 * Read what other runs of its workflow id have sent than a run, whatever they are to it, the latest first.
 *
 * @throws Refused where one of them is gone
 */
export const readSentByOthers = async (
  temporal: Temporal,
  { runId, workflowId }: RunExecution,
): Promise<ReadonlyArray<SentByOther>> => {
  const own = { workflowId, runId };
  const others = await readOthers(temporal, own, new Set([runId]), "all");
  return others.flatMap((other) =>
    [...executionHistoryOf([other]).sends].flatMap(([step, { sent }]) => {
      const made = { runId: other.runId, step };
      if (sent.outcome === "known") return [{ ...made, id: sent.id }];
      return sent.outcome === "unknown" ? [made] : [];
    }),
  );
};

/**
 * Read what the runs of a workflow id have done: this one, those that it was reset from, and those that were reset
 * meanwhile.
 *
 * @param which `all` counts those that it continues, too: what they have sent is not what it sends; default: `own`.
 * @throws Refused where one of them is gone
 */
export const readExecutionHistory = async (
  temporal: Temporal,
  { raw, runId, workflowId }: WorkflowExecutionDescription,
  which: "all" | "own" = "own",
): Promise<ExecutionHistory> => {
  const runs = new Map<string, ReadPastRun>();
  let next: string | undefined = runId;
  while (next !== undefined && !runs.has(next)) {
    const run: ReadPastRun = await historyOf(temporal, workflowId, next);
    runs.set(next, run);
    next = run.reset?.runId;
  }
  const inOrder = [...runs.values()].toReversed();
  const isReset = raw.workflowExecutionInfo?.firstRunId !== runId;
  const others = isReset ? await readOthers(temporal, { workflowId, runId }, runs, which) : [];
  const executed = await settled(temporal, [...others, ...inOrder]);
  return executed.steps.length > 0
    ? executed
    : { ...executed, sentByOthers: await readSentByOthers(temporal, { workflowId, runId }) };
};

/**
 * What the runs' histories say, and where they do not know it, what a person found out since: what
 * was found is found for good, and "not carried out" holds for the latest run.
 */
const settled = async (
  temporal: Temporal,
  runs: ReadonlyArray<ReadPastRun>,
): Promise<ExecutionHistory> => {
  const executed = executionHistoryOf(runs);
  const sends = new Map(executed.sends);
  const settlements: Array<KeptSettlement> = [];
  for (const [step, send] of executed.sends) {
    if (send.sent.outcome !== "unknown") continue;
    for (const { runId } of runs) {
      const settlement = await readSettlement(temporal, runId, step);
      if (settlement === undefined) continue;
      settlements.push(settlement);
      const id = settlement.found?.[send.kind.idField];
      if (id !== undefined) {
        sends.set(step, { ...send, sent: { outcome: "known", id, givenBy: settlement.by } });
      } else if (runId === runs.at(-1)?.runId) {
        sends.set(step, { ...send, sent: { outcome: "notSent" } });
      }
    }
  }
  return { ...executed, sends, settlements };
};
