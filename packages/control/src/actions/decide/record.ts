import { isRecord } from "@durable-payments/client/values";
import {
  type Actor,
  nameProblem,
  type NewDecision,
  reasonProblem,
  type WriteName,
} from "@durable-payments/ledger";
import { nudgeSignal } from "@durable-payments/protocol/calls";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import type { Connected } from "../../facts/connection/connections.ts";
import { invalidInput } from "../../errors.ts";

/** The person who acts; recorded with the decision. */
export interface Acting {
  /** Name of the person: nothing else tells a second person from the first. */
  readonly by: string;
  /** How the person was identified, such as `single sign-on`. Default: `program`. */
  readonly how?: string | undefined;
  /** Recorded; required where something is ended, overridden, paused or sent again. */
  readonly reason?: string | undefined;
}

/** A second person's decision about what was shown. */
export interface Approving extends Acting {
  /** Hash of what the person has read: nothing else is approved. */
  readonly hash: string;
}

/**
 * The rule for all decisions about something that changes: a decision names what its person has read. Without the name,
 * it would decide about what is there when it arrives, which nobody may have read.
 *
 * @throws InvalidInput if the name is missing: the caller may be a program that passes on what it was sent.
 */
export const nameOfRead = (field: "hash" | "question", name: unknown): string => {
  if (typeof name === "string" && name.trim() !== "") return name;
  throw invalidInput(
    `Pass the ${field} of what you have read, as the inbox shows it. Nothing was done.`,
  );
};

/** A hash of what was shown; of limits, a number. */
const HASH = /^(?:[\da-f]{32}|\d+)$/;

/** Returns the hash of what an approver has read. @throws InvalidInput if there is none. */
export const hashOfRead = ({ hash }: { readonly hash?: unknown }): string => {
  const name = nameOfRead("hash", hash);
  if (HASH.test(name)) return name;
  throw invalidInput(
    `"${name}" is not a hash: pass the hash of what you have read, as show prints it. In JSON, it is .inbox[0].hash of a run, and .listing.hash of a file. Nothing was done.`,
  );
};

/** Checks a person's name: nothing else identifies a second person. */
export const checkName = (name: unknown, field = "by"): void => {
  const problem = nameProblem(name);
  if (problem !== undefined)
    throw invalidInput(`The name (${field}) ${problem}. Nothing was done.`);
};

/**
 * Checks the name and reason of a decision: the one rule for all decisions.
 *
 * @param needsReason whether a reason is required: for an end, a rejection, an override, a pause or a resend.
 * @throws InvalidInput if the name or the reason is missing, too long, or has control characters.
 */
export const actorOf = (acting: Acting, needsReason = false): Actor => {
  if (!isRecord(acting))
    throw invalidInput("The name of the person who acts is required (by). Nothing was done.");
  const { by, how = "program", reason } = acting;
  checkName(by);
  if (reason === undefined) {
    if (needsReason) throw invalidInput("A reason is required (reason). Nothing was done.");
    return { by, how, reason: null };
  }
  const problem = reasonProblem(reason);
  if (problem !== undefined) throw invalidInput(`The reason ${problem}. Nothing was done.`);
  return { by, how, reason };
};

const ANSWER_WITHIN_MS = 3_000;

/** Asks a run to check again, if one is open. @throws ServiceError if Temporal does not answer. */
export const nudge = (client: Client, workflowId: string): Promise<void> =>
  client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
    client.workflow
      .getHandle(workflowId)
      .signal(nudgeSignal, {})
      .catch((error: unknown) => {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }),
  );

/** Returns the workflow id with its account as the ledger knows it; else that of these settings, or an empty one. */
export const ownerOf = async (
  { account = "", ledger }: Pick<Connected, "ledger"> & Partial<Pick<Connected, "account">>,
  workflowId: string,
): Promise<Pick<WriteName, "account" | "workflowId">> => {
  const [row] = await ledger.rowsOf(workflowId);
  if (row !== undefined) return { account: row.account, workflowId };
  const [run] = await ledger.runs({ workflowIds: [workflowId], limit: 1 });
  return { account: run?.account ?? account, workflowId };
};

/** Makes a decision about a step, or about the whole workflow id. */
export const decisionOn = (
  { account, workflowId }: Pick<WriteName, "account" | "workflowId">,
  kind: NewDecision["kind"],
  actor: Actor,
  more: Partial<Pick<NewDecision, "question" | "step" | "value">> = {},
): NewDecision => ({
  account,
  workflowId,
  kind,
  step: null,
  question: null,
  value: {},
  ...actor,
  ...more,
});
