import { isRecord } from "@durable-payments/api-core/values";
import { nameProblem, reasonProblem } from "@durable-payments/ledger";
import type { Actor } from "@durable-payments/ledger";
import { invalidInput } from "./errors.ts";

/** Who acts. The ledger keeps it beside what was decided. */
export interface Acting {
  readonly by: string;
  /** How the name is known: `--by`, `user of this machine`. */
  readonly how: string;
  readonly reason?: string | undefined;
}

/** Checks the name under which somebody acts: a second person is known by nothing else. */
export const checkName = (name: unknown, field = "by"): void => {
  const problem = nameProblem(name);
  if (problem !== undefined)
    throw invalidInput(`The name (${field}) ${problem}. Nothing was done.`);
};

/**
 * Checks who acts, and why: the one rule for all decisions.
 *
 * @param needsReason whether a reason is required: for whatever ends, rejects, overrules, pauses or sends again.
 * @throws InvalidInput where the name or the reason is missing, too long, or has control characters.
 */
export const actorOf = (acting: Acting, needsReason = false): Actor => {
  if (!isRecord(acting)) throw invalidInput("It must be known who acts (by). Nothing was done.");
  const { by, how, reason } = acting;
  checkName(by);
  if (reason === undefined) {
    if (needsReason) throw invalidInput("A reason is required (--reason WHY). Nothing was done.");
    return { by, how, reason: null };
  }
  const problem = reasonProblem(reason);
  if (problem !== undefined) throw invalidInput(`The reason ${problem}. Nothing was done.`);
  return { by, how, reason };
};
