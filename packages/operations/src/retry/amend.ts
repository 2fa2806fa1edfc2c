import type { Assumptions } from "@durable-payments/api-core";
import { isRecord, lookUp } from "@durable-payments/api-core/values";
import { mergePatch, patchedFields } from "@durable-payments/protocol";
import { invalidInput } from "../errors.ts";
import { canonicalJson, hashOf } from "../input/content.ts";
import { planOnboarding } from "../input/onboarding.ts";
import { planPayout } from "../input/payout.ts";
import type { PlannedRun } from "../input/planned-run.ts";

/** Checks an input as that of a new run is checked, by workflow type. */
const CHECKS: Readonly<Record<string, (input: unknown, assumptions: Assumptions) => PlannedRun>> = {
  onboardCardholder: planOnboarding,
  payout: planPayout,
};

/** An amended input, and what of it has changed. */
export interface Amendment {
  readonly input: unknown;
  /** Paths of the fields that differ: `payout.amount`. Their values are not kept. */
  readonly fields: ReadonlyArray<string>;
  readonly hash: string;
}

const valueAt = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((part, name) => (isRecord(part) ? part[name] : undefined), value);

/** Amends the input of a run by a merge patch (RFC 7396). A user's own workflow has it checked by its steps. */
export const amendInput = (
  workflowType: string,
  input: unknown,
  { assumptions, patch }: { readonly patch: unknown; readonly assumptions: Assumptions },
): Amendment => {
  if (!isRecord(patch))
    throw invalidInput(
      "The patch must be a JSON object of the shape of the run's input. Nothing was done.",
    );
  const amended = mergePatch(input, patch);
  const fields = patchedFields(patch).filter(
    (path) =>
      canonicalJson({ at: valueAt(input, path) }) !== canonicalJson({ at: valueAt(amended, path) }),
  );
  if (fields.length === 0) throw invalidInput("The amendment changes nothing. Nothing was done.");
  const accounts = [input, amended].map((one) => (isRecord(one) ? one["account"] : undefined));
  if (accounts[0] !== accounts[1])
    throw invalidInput("The account that pays cannot be amended. Nothing was done.");
  const checked = lookUp(CHECKS, workflowType)?.(amended, assumptions).input ?? amended;
  return { input: checked, fields, hash: hashOf(checked) };
};
