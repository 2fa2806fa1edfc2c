import type { Fault } from "@durable-payments/api-core";
import { isRecord, lookUp } from "@durable-payments/api-core/values";
import { type RetryInstruction, stepThatUses, WORKFLOW } from "@durable-payments/protocol";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { isStandardSchema, schemaFaults } from "./schema-faults.ts";

/** What the worker knows of the input of a workflow of a user's own. */
export interface OwnInput {
  /**
   * Checks the input; any library of Standard Schema: zod, valibot, Effect. It is not transformed. One that throws, or
   * does not answer within ten seconds, fails the run as `InvalidRequest` before anything is sent.
   */
  readonly schema: StandardSchemaV1;
  /**
   * The fields that a retry can amend, each with the last step that uses it: `{"second.": "payTheSecond"}`. A name
   * that ends with a point stands for all fields below it. Default: none.
   */
  readonly amendable?: Readonly<Record<string, string>>;
}

/** The inputs of workflows of a user's own, by workflow type. */
export type OwnInputs = Readonly<Record<string, OwnInput>>;

const OUR_TYPES: ReadonlyArray<string> = Object.values(WORKFLOW);

/**
 * Expect that inputs can be checked: a mistake stops the worker at its start, before a run is amended.
 *
 * @throws TypeError that names the workflow type.
 */
export const expectInputs = (inputs: OwnInputs): void => {
  for (const [type, input] of Object.entries(inputs)) {
    if (OUR_TYPES.includes(type)) {
      throw new TypeError(`inputs.${type}: the input of ${type} is known, leave it out.`);
    }
    // Written in JavaScript, it may be anything.
    if (!isRecord(input) || !isStandardSchema(input.schema)) {
      throw new TypeError(
        `inputs.${type}.schema must be a Standard Schema, as zod, valibot and others make it.`,
      );
    }
  }
};

const noSchema = (workflowType: string): Fault => ({
  field: "",
  problem: `cannot be checked: the worker has no schema of the input of ${workflowType}; give it one (inputs of PaymentsPlugin, or of makePaymentsActivities)`,
});

/** Check the input of a run of a user's own workflow. */
export const inputFaults = async (
  inputs: OwnInputs,
  workflowType: string,
  input: unknown,
): Promise<ReadonlyArray<Fault>> => {
  const own = lookUp(inputs, workflowType);
  return own === undefined ? [noSchema(workflowType)] : schemaFaults(own.schema, input);
};

/**
 * Check what a retry has amended of the input of a run. That of this project's own workflows is checked by who has
 * it retried, who knows their inputs.
 *
 * @returns every fault; none where nothing was amended.
 */
export const amendmentFaultsOf = async (
  inputs: OwnInputs,
  workflowType: string,
  { fields, fixed = {}, input }: RetryInstruction,
): Promise<ReadonlyArray<Fault>> => {
  if (input === undefined || OUR_TYPES.includes(workflowType)) return [];
  const own = lookUp(inputs, workflowType);
  if (own === undefined) return [noSchema(workflowType)];
  const faults = fields.flatMap((field): ReadonlyArray<Fault> => {
    const step = stepThatUses(field, own.amendable ?? {});
    if (step === undefined) return [{ field, problem: "cannot be amended" }];
    const problem = lookUp(fixed, step);
    return problem === undefined ? [] : [{ field, problem }];
  });
  return [...faults, ...(await schemaFaults(own.schema, input))];
};
