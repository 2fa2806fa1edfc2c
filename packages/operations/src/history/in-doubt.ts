import { PAYMENT_IDS, PAYMENT_IN_DOUBT, textAt } from "@durable-payments/protocol";
import type { StepInDoubt } from "@durable-payments/workflows";
import {
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
  WorkflowNotFoundError,
} from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";
import { Refused } from "../errors.ts";
import { type DoubtedStep, doubtedStep } from "./doubted-step.ts";
import type { ExecutionHistory } from "./execution-history.ts";
import { readExecutionHistory } from "./read-execution-history.ts";
import { readLaterRuns } from "./later-runs.ts";
import { masked } from "./masked.ts";
import { isNamedIn, type PastSend } from "./sends.ts";
import { readSettlement } from "./settlement.ts";

const othersInDoubt = (
  step: string,
  { kind, others = [] }: PastSend,
): ReadonlyArray<StepInDoubt & { readonly isLeft: boolean }> =>
  others.map((other) => ({ step, operation: kind.operation, ...other }));

const withoutMark = ({
  isLeft: _,
  ...inDoubt
}: StepInDoubt & { readonly isLeft: boolean }): StepInDoubt => inDoubt;

/**
 * The sends of a run with an unknown outcome, as all histories of its id say: what was really sent,
 * where that is another request than the one that the run meant to send.
 */
export const stepsInDoubt = (executed: ExecutionHistory): ReadonlyArray<DoubtedStep> =>
  [...executed.sends].flatMap(([step, send]) =>
    send.sent.outcome === "unknown"
      ? [
          ...othersInDoubt(step, send).map(withoutMark),
          ...(send.isLastInDoubt === false ? [] : [doubtedStep(step, send, executed)]),
        ]
      : [],
  );

/** What was sent before, and a person had something else sent beside, whose outcome is known. */
export const leftInDoubt = ({ sends }: ExecutionHistory): ReadonlyArray<StepInDoubt> =>
  [...sends].flatMap(([step, send]) =>
    send.sent.outcome === "unknown"
      ? []
      : othersInDoubt(step, send)
          .filter(({ isLeft }) => isLeft)
          .map(withoutMark),
  );

/**
 * What a run made that was terminated before it took the answer: its history alone knows it.
 *
 * @param ids that the run owned at last.
 */
export const untakenSteps = (
  executed: ExecutionHistory,
  ids: ReadonlyArray<string>,
): ReadonlyArray<DoubtedStep> =>
  [...executed.sends].flatMap(([step, send]) =>
    send.sent.outcome === "known" && !ids.includes(send.sent.id)
      ? [doubtedStep(step, send, executed)]
      : [],
  );

/** Those of the steps of a run that no person has settled. */
const withoutSettlement = async <Step extends Pick<StepInDoubt, "step">>(
  temporal: Temporal,
  { runId }: WorkflowExecutionDescription,
  steps: ReadonlyArray<Step>,
): Promise<ReadonlyArray<Step>> => {
  const settlements = await Promise.all(
    steps.map(({ step }) => readSettlement(temporal, runId, step)),
  );
  return steps.filter((_, index) => settlements[index] === undefined);
};

/** What the run itself reports as in doubt; a run that was terminated reported nothing more. */
const namedBy = ({
  typedSearchAttributes,
}: Pick<WorkflowExecutionInfo, "typedSearchAttributes">): string =>
  typedSearchAttributes.get(PAYMENT_IN_DOUBT) ?? "";

/** A run that a reset made has its attributes from before: where it did not end by itself, they name less. */
const mayNameLess = ({ raw, runId, status }: WorkflowExecutionDescription): boolean =>
  (status.name === "TERMINATED" || status.name === "TIMED_OUT") &&
  raw.workflowExecutionInfo?.firstRunId !== runId;

/** The number of a second step of its kind belongs to its name: `createPayout (2)`. */
const namesIn = (named: string): ReadonlyArray<string> => named.split(/ (?!\()/);

/**
 * Find the steps of an ended run that are in doubt still: named by the run, unknown by its history or to the
 * run itself, and not settled by a person. What was refused for certain when the run was terminated is none
 * of them.
 *
 * @param temporal the connection of `withTemporal`.
 * @param run what `describeRun` returns.
 * @returns the steps, each with what is known of it: amount, payee, reference, key, and what the list showed that may be it; none for a run that names none.
 */
export const unsettledSteps = async (
  temporal: Temporal,
  run: WorkflowExecutionDescription,
): Promise<ReadonlyArray<DoubtedStep>> => {
  const named = namedBy(run);
  if (named === "" && !mayNameLess(run)) return [];
  try {
    const executed = await readExecutionHistory(temporal, run);
    if (executed.isUnbegun) {
      return [
        ...stepsInDoubt(executed),
        ...(await withoutSettlement(temporal, run, untakenSteps(executed, [...executed.owned]))),
      ];
    }
    const untaken = untakenSteps(executed, run.typedSearchAttributes.get(PAYMENT_IDS) ?? []);
    const isNamed = ({ step }: StepInDoubt) => isNamedIn(named, step);
    return [
      ...stepsInDoubt(executed).filter(isNamed),
      ...(await withoutSettlement(
        temporal,
        run,
        [...untaken, ...leftInDoubt(executed)].filter(isNamed),
      )),
    ];
  } catch (error) {
    // Where the history of an earlier run is gone, or does not decode, only this run's own word is left.
    if (!(error instanceof Refused)) throw error;
    const steps = (named === "" ? [] : namesIn(named)).map((step) => ({
      step,
      operation: "unknown",
    }));
    return withoutSettlement(temporal, run, steps);
  }
};

/** The keys of what a run has sent of which it knows what became. */
const knownKeys = async (
  temporal: Temporal,
  { runId, workflowId }: Readonly<Record<"runId" | "workflowId", string>>,
): Promise<ReadonlyArray<string>> => {
  try {
    const run = await temporal.client.workflow.getHandle(workflowId, runId).describe();
    const { sends } = await readExecutionHistory(temporal, run);
    return [...sends.values()].flatMap(({ lastInput, sent }) =>
      sent.outcome === "known" ? (textAt(lastInput, "unique_request_id") ?? []) : [],
    );
  } catch (error) {
    // What cannot be read settles nothing.
    if (error instanceof Refused || error instanceof WorkflowNotFoundError) return [];
    throw error;
  }
};

/** What of an ended run is in doubt still, whatever began under its workflow id since. */
export interface OpenDoubts {
  /** None where a reset goes on with the run. */
  readonly inDoubt: ReadonlyArray<DoubtedStep>;
  /** `earlier`: another run of its id has begun since; `reset`: and it goes on with this one, doubts and all. */
  readonly standing: "latest" | "earlier" | "reset";
}

/**
 * Find the steps of an ended run that are in doubt still, as {@link unsettledSteps} does, of an earlier run of a
 * workflow id, too: one that continues it, or pays something else under its id, settles nothing of it.
 *
 * @param run what `describeRun` returns.
 */
export const openDoubts = async (
  temporal: Temporal,
  run: WorkflowExecutionDescription,
): Promise<OpenDoubts> => {
  const inDoubt = await unsettledSteps(temporal, run);
  const later = await readLaterRuns(temporal, run);
  if (later.length === 0) return { inDoubt, standing: "latest" };
  if (later.some(({ relation }) => relation === "reset")) return { inDoubt: [], standing: "reset" };
  if (inDoubt.length === 0) return { inDoubt, standing: "earlier" };
  // One that was started in its place sends under the same keys, and looks for what was sent before.
  const inItsPlace = later.filter(({ relation }) => relation !== "other");
  const { workflowId } = run;
  const known = new Set(
    (
      await Promise.all(inItsPlace.map(({ runId }) => knownKeys(temporal, { workflowId, runId })))
    ).flat(),
  );
  return { inDoubt: inDoubt.filter(({ key = "" }) => !known.has(key)), standing: "earlier" };
};

/** A doubt of an ended run that a person has settled. Times are ISO 8601. */
export interface SettledDoubt {
  readonly step: string;
  readonly by: string;
  readonly at: string;
  readonly reason: string;
  /** What it made, by id; null where it was not carried out. */
  readonly found: Readonly<Record<string, string>> | null;
}

/** Read what people have settled of the steps that an ended run names as in doubt. */
export const readSettledDoubts = async (
  temporal: Temporal,
  run: Pick<WorkflowExecutionInfo, "closeTime" | "runId" | "typedSearchAttributes">,
): Promise<ReadonlyArray<SettledDoubt>> => {
  const named = namedBy(run);
  if (run.closeTime === undefined || named === "") return [];
  const kept = await Promise.all(
    namesIn(named).map((step) => readSettlement(temporal, run.runId, step)),
  );
  return kept.flatMap((settled) => {
    if (settled === undefined) return [];
    const { at, by, found = null, reason, step } = settled;
    return [{ step, by, at: new Date(at).toISOString(), reason: masked(reason), found }];
  });
};
