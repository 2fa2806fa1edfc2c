import { canonicalJson } from "@durable-payments/activities/payout-content";
import type { Assumptions, Fault } from "@durable-payments/api-core";
import { isRecord, lookUp } from "@durable-payments/api-core/values";
import {
  amendableFields,
  amendmentFaults,
  type HumanTask,
  mergePatch,
  patchedFields,
  stepThatUses,
  WORKFLOW,
} from "@durable-payments/protocol";
import type { WorkflowExecutionDescription } from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";
import { readExecutionHistory } from "../history/read-execution-history.ts";
import { invalidInput } from "../errors.ts";
import { valueAt } from "../input/differing-fields.ts";
import { planOnboarding } from "../input/onboarding.ts";
import { planPayout } from "../input/payout.ts";
import type { PlannedRun } from "../input/planned-run.ts";

/** Checks an input as that of a new run is checked, by workflow type. */
const CHECKS: Readonly<Record<string, (input: unknown, assumptions: Assumptions) => PlannedRun>> = {
  [WORKFLOW.onboardCardholder]: planOnboarding,
  [WORKFLOW.payout]: planPayout,
};

/** An amendment, checked as far as the inputs of workflows are known here. */
export interface Amendment {
  /** The whole input, amended. */
  readonly input: unknown;
  /** The fields that it changes, each with the last step that uses it; undefined where its worker knows that. */
  readonly fields: ReadonlyArray<{ readonly field: string; readonly step: string | undefined }>;
  /** Whether it is an input of a user's own workflow, which its worker checks before anything is sent. */
  readonly isCheckedByWorker: boolean;
}

const OUR_TYPES: ReadonlyArray<string> = Object.values(WORKFLOW);

/**
 * Amend the input of a run by a patch of the input's own shape.
 *
 * @throws InvalidInput that names every fault
 */
export const amendInput = (
  workflowType: string,
  {
    assumptions,
    input,
    patch,
  }: {
    readonly input: unknown;
    readonly patch: unknown;
    readonly assumptions: Assumptions;
  },
): Amendment => {
  const [usedBy = {}, check] = [
    lookUp(amendableFields, workflowType),
    lookUp(CHECKS, workflowType),
  ];
  const isCheckedByWorker = !OUR_TYPES.includes(workflowType);
  if (check === undefined && !isCheckedByWorker) {
    throw invalidInput(
      `The input of a run of ${workflowType} cannot be amended: none of its fields can. Nothing was done.`,
    );
  }
  if (!isRecord(patch)) {
    throw invalidInput("The patch must be a JSON object of the shape of the run's input.");
  }
  const amended = mergePatch(input, patch);
  const fields = patchedFields(patch)
    .filter(
      (field) =>
        canonicalJson({ at: valueAt(input, field) }) !==
        canonicalJson({ at: valueAt(amended, field) }),
    )
    .map((field) => ({ field, step: stepThatUses(field, usedBy) }));
  const faults: ReadonlyArray<Fault> = fields.flatMap(({ field, step }) =>
    step === undefined && !isCheckedByWorker ? [{ field, problem: "cannot be amended" }] : [],
  );
  if (faults.length > 0) throw invalidInput("The amendment is wrong. Nothing was done.", faults);
  if (fields.length === 0) throw invalidInput("The amendment changes nothing. Nothing was done.");
  check?.(amended, assumptions);
  return { input: amended, fields, isCheckedByWorker };
};

/**
 * Check what a person amends of a request that a run asks about, as the amendment of a retry is checked.
 *
 * @param run the run that asks.
 * @param task what it asks.
 * @param patch as the person gave it.
 * @throws InvalidInput that names every fault
 */
export const checkTaskAmendment = async (
  temporal: Temporal,
  run: WorkflowExecutionDescription,
  { operation, step }: Pick<HumanTask, "operation" | "step">,
  { assumptions, patch }: { readonly patch: unknown; readonly assumptions: Assumptions },
): Promise<void> => {
  const shape = amendmentFaults(operation, patch);
  if (shape.length > 0) throw invalidInput("The amendment is wrong. Nothing was done.", shape);
  // The run itself checks the request of a workflow whose input is not known here.
  if (lookUp(CHECKS, run.type) === undefined) return;
  const { input } = await readExecutionHistory(temporal, run);
  const { fields } = amendInput(run.type, { input, patch, assumptions });
  const others = fields.filter((field) => field.step !== step);
  if (others.length === 0) return;
  throw invalidInput(
    "The amendment is wrong. Nothing was done.",
    others.map(({ field }) => ({ field, problem: `is none of what ${step} sends` })),
  );
};
