import type { Decision } from "@durable-payments/protocol";
import { badUsage } from "../../exit-codes.ts";
import { isRecord } from "@durable-payments/api-core/values";
import { readJson } from "./read-json.ts";

/** A decision as it is given on the command line. */
export interface GivenDecision {
  readonly found: Readonly<Record<string, string>> | undefined;
  readonly resend: boolean;
  /** Name of a JSON file. */
  readonly amend: string | undefined;
  readonly abandon: string | undefined;
}

const readAmendment = async (file: string) => {
  const amend = await readJson(file);
  if (isRecord(amend)) return amend;
  throw badUsage("--amend must name a JSON file that holds an object of fields.");
};

/**
 * The decision that a person gives.
 *
 * @throws BadUsage unless it is exactly one
 */
export const readDecision = async (given: GivenDecision): Promise<Decision> => {
  const { abandon, amend, found, resend } = given;
  const decisions: ReadonlyArray<() => Decision | Promise<Decision>> = [
    ...(found === undefined ? [] : [() => ({ found })]),
    ...(resend ? [() => ({ resend: true as const })] : []),
    ...(amend === undefined ? [] : [async () => ({ amend: await readAmendment(amend) })]),
    ...(abandon === undefined ? [] : [() => ({ abandon })]),
  ];
  const [decision, ...others] = decisions;
  if (decision === undefined || others.length > 0) {
    throw badUsage("Give exactly one of --found, --resend, --amend, --abandon.");
  }
  return await decision();
};
