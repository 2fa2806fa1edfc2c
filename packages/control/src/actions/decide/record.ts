import { isRecord } from "@durable-payments/client/values";
import {
  type Actor,
  type DecisionLook,
  nameProblem,
  type NewDecision,
  reasonProblem,
  type WriteName,
  type WriteRow,
} from "@durable-payments/ledger";
import { nudgeSignal } from "@durable-payments/protocol/calls";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import type { Deciding, Connected } from "../../facts/connection/connections.ts";
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
  readonly hash?: string | undefined;
}

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

/**
 * Whether the run was asked to check again. `noRun`: none is open, the decision applies to the next one. `unanswered`:
 * Temporal did not answer, the tracker notifies the run later.
 */
export type Nudged = "nudged" | "noRun" | "unanswered";

const ANSWER_WITHIN_MS = 3_000;

/** Asks the runs of rows to look at the ledger again, or a run without rows. It may be lost. */
export const nudge = async (
  client: Client | undefined,
  workflowId: string,
  rows: ReadonlyArray<Pick<WriteRow, "ownerId" | "step" | "workflowId">> = [],
): Promise<Nudged> => {
  if (client === undefined) return "unanswered";
  const asked =
    rows.length === 0 ? new Map([[workflowId, rows]]) : Map.groupBy(rows, ({ ownerId }) => ownerId);
  let result: Nudged = "noRun";
  for (const [id, of] of asked) {
    // A run may give any name to the step of a keyed row, so all of its steps check again.
    const isKeyed = of.some((row) => row.workflowId !== id);
    const nudge = of.length === 0 || isKeyed ? {} : { steps: of.map(({ step }) => step) };
    try {
      await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
        client.workflow.getHandle(id).signal(nudgeSignal, nudge),
      );
      result = "nudged";
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) continue;
      return "unanswered";
    }
  }
  return result;
};

/** A recorded decision, and whether the run was notified. */
export interface Decided {
  readonly decision: NewDecision;
  readonly nudged: Nudged;
}

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

/**
 * Records a decision, unless `check` refuses it, and nudges the run at the rows that `check` gives. If the nudge is
 * lost, the tracker's sweep notifies it.
 */
export const record = async (
  { client, ledger }: Deciding,
  decision: NewDecision,
  check: (look: DecisionLook) => ReadonlyArray<WriteRow>,
): Promise<Decided> => {
  let rows: ReadonlyArray<WriteRow> = [];
  await ledger.decide(decision, (look) => (rows = check(look)));
  return { decision, nudged: await nudge(client, decision.workflowId, rows) };
};
