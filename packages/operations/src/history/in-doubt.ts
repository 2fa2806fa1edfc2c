import { PAYMENT_IDS, PAYMENT_IN_DOUBT } from "@durable-payments/protocol";
import type { StepInDoubt } from "@durable-payments/workflows";
import type { WorkflowExecutionDescription, WorkflowExecutionInfo } from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";
import { Refused } from "../errors.ts";
import { type DoubtedStep, doubtedStep } from "./doubted-step.ts";
import { type ExecutionHistory, readExecutionHistory } from "./execution-history.ts";
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
