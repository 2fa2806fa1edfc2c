import { canonicalJson } from "@durable-payments/activities/payout-content";
import type { Assumptions, Fault } from "@durable-payments/api-core";
import { isRecord } from "@durable-payments/api-core/values";
import { amendableFields, WORKFLOW } from "@durable-payments/protocol";
import { invalidInput } from "../errors.ts";
import { planOnboarding } from "../input/onboarding.ts";
import { planPayout } from "../input/payout.ts";
import type { PlannedRun } from "../input/planned-run.ts";

/** Checks an input as that of a new run is checked, by workflow type. */
const CHECKS: Readonly<Record<string, (input: unknown, assumptions: Assumptions) => PlannedRun>> = {
  [WORKFLOW.onboardCardholder]: planOnboarding,
  [WORKFLOW.payout]: planPayout,
};

/** Change a JSON value by a merge patch (RFC 7396): null takes a field away. */
export const mergePatch = (value: unknown, patch: unknown): unknown => {
  if (!isRecord(patch)) return patch;
  const fields = isRecord(value) ? value : {};
  const changed = Object.entries(patch).flatMap(([name, change]) =>
    change === null ? [] : [[name, mergePatch(fields[name], change)] as const],
  );
  const kept = Object.entries(fields).filter(([name]) => patch[name] !== null);
  return Object.fromEntries([...kept, ...changed]);
};

const fieldsOf = (patch: unknown, within = ""): Array<string> =>
  isRecord(patch)
    ? Object.entries(patch).flatMap(([name, change]) =>
        fieldsOf(change, within === "" ? name : `${within}.${name}`),
      )
    : [within];

const valueAt = (value: unknown, field: string): unknown =>
  field
    .split(".")
    .reduce<unknown>((part, name) => (isRecord(part) ? part[name] : undefined), value);

const stepThatUses = (
  field: string,
  usedBy: Readonly<Record<string, string>>,
): string | undefined => {
  const used = Object.keys(usedBy).find((name) =>
    name.endsWith(".") ? field.startsWith(name) : field === name,
  );
  return used === undefined ? undefined : usedBy[used];
};

/** An amendment that was checked. */
export interface Amendment {
  /** The whole input, amended. */
  readonly input: unknown;
  /** The fields that it changes, each with the last step that uses it. */
  readonly fields: ReadonlyArray<{ readonly field: string; readonly step: string }>;
}

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
  const [usedBy, check] = [amendableFields[workflowType], CHECKS[workflowType]];
  if (usedBy === undefined || check === undefined) {
    throw invalidInput(
      `The input of a run of ${workflowType} cannot be amended: its fields are not known. Nothing was done.`,
    );
  }
  if (!isRecord(patch)) {
    throw invalidInput("The patch must be a JSON object of the shape of the run's input.");
  }
  const amended = mergePatch(input, patch);
  const fields = fieldsOf(patch)
    .filter(
      (field) =>
        canonicalJson({ at: valueAt(input, field) }) !==
        canonicalJson({ at: valueAt(amended, field) }),
    )
    .map((field) => ({ field, step: stepThatUses(field, usedBy) }));
  const faults: ReadonlyArray<Fault> = fields.flatMap(({ field, step }) =>
    step === undefined ? [{ field, problem: "cannot be amended by a retry" }] : [],
  );
  if (faults.length > 0) throw invalidInput("The amendment is wrong. Nothing was done.", faults);
  if (fields.length === 0) throw invalidInput("The amendment changes nothing. Nothing was done.");
  check(amended, assumptions);
  return {
    input: amended,
    fields: fields.flatMap(({ field, step }) => (step === undefined ? [] : [{ field, step }])),
  };
};
