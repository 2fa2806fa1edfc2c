/**
 * Facts that a start finds in the ledger under an id that belongs to another input, or that Temporal does not know.
 */
import { type Decision, endAmong, type Ledger, type Run } from "@durable-payments/ledger";
import { contentHash, textAt } from "@durable-payments/protocol";
import { hashOf } from "@durable-payments/protocol/account";
import { EndedByPerson, type NotAllowed, refused } from "../errors.ts";
import type { PlannedRun } from "../rules/input.ts";
import { dated } from "../rules/standing.ts";
import { isPurpose } from "./lost-runs.ts";

/** Refuses an id that belongs to another input. */
const otherInput = (workflowId: string, run: string): NotAllowed =>
  refused(
    `The id ${workflowId} belongs to a run of ${run} input. Nothing was started. First check what that run has done: under another id, it would be done again.`,
    workflowId,
  );

/** Refuses an id whose input a person has amended: under another one, its payment would be made twice. */
const amendedInput = (workflowId: string, { by }: Decision): NotAllowed =>
  refused(`${by} amended ${workflowId}: pass the amended input. Nothing was started.`, {
    action: "show",
    workflowId,
    isLog: true,
  });

const lastInput = (decisions: ReadonlyArray<Decision>): Decision | undefined =>
  decisions.findLast(({ kind }) => kind === "start" || kind === "amend");

/** Refuses an id of which Temporal has a run of another type or input. */
export const otherRun = async (
  ledger: Pick<Ledger, "decisionsOf"> | undefined,
  workflowId: string,
  wanted: string,
  type: string,
): Promise<NotAllowed> => {
  const last = wanted === type && lastInput((await ledger?.decisionsOf(workflowId)) ?? []);
  return last && last.kind === "amend"
    ? amendedInput(workflowId, last)
    : otherInput(workflowId, `${type} with another`);
};

/** Refuses an id whose row its file has not started: the file starts it, and nobody else. */
const refuseUnstarted = async (ledger: Ledger, { batch, batchRow, workflowId }: Run) => {
  if (batch === null || batchRow === null) return;
  const [row] = await ledger.batchRows(batch, { after: batchRow - 1, limit: 1 });
  if (row?.state === "started") return;
  throw refused(
    `The id ${workflowId} belongs to row ${batchRow} of ${batch}, which has not started yet: give the file again. Nothing was started.`,
    batch,
  );
};

/** As {@link refuseUnstarted}, for an id that any program starts. */
export const refuseFiled = async (ledger: Ledger, workflowId: string): Promise<void> => {
  const [run] = await ledger.runs({ workflowIds: [workflowId], limit: 1 });
  if (run?.runId === null && run.endState === null) await refuseUnstarted(ledger, run);
};

/**
 * The outcome of an id that Temporal does not know, or has forgotten: after its retention time, or with its database. The
 * ledger remembers. An id under which nothing was done can be started, and an unfinished one with the same input, also the
 * row of a file: under another id it would be paid twice.
 *
 * @returns whether its payout or card was made; if not, then it can be started.
 */
export const isForgottenDone = async (
  ledger: Ledger,
  workflowId: string,
  { input, workflowType }: PlannedRun,
): Promise<boolean> => {
  const [noted] = await ledger.runs({ workflowIds: [workflowId], limit: 1 });
  const decisions = await ledger.decisionsOf(workflowId);
  const end = endAmong(decisions);
  if (end !== undefined)
    throw new EndedByPerson({
      message: `${workflowId} was stopped by ${end.by} on ${dated(end.at)} (${end.reason}). Nothing was started.`,
      next: { action: "show", workflowId, isLog: true },
    });
  const rows = await ledger.rowsOf(workflowId);
  if (rows.length === 0 && !noted?.batch) return false;
  // If a run was started in another way, then the ledger does not have its input.
  const { content, type = "an unknown type" } =
    decisions.find(({ kind }) => kind === "start")?.value ?? {};
  const last = lastInput(decisions);
  const isAmended = last?.kind === "amend";
  const isSame = isAmended ? last.value["hash"] === hashOf(input) : content === contentHash(input);
  if (type !== workflowType || (!isSame && !isAmended))
    throw otherInput(
      workflowId,
      `${textAt({ type }, "type")} with ${content === undefined ? "an unknown" : "another"}`,
    );
  if (!isSame && isAmended) throw amendedInput(workflowId, last);
  const purpose = rows.find((row) => isPurpose({ type: workflowType, workflowId }, row));
  if (purpose?.state === "undone")
    throw refused(
      `${workflowId} was undone, so nothing is paid under this id. Nothing was started: give another id.`,
      workflowId,
    );
  if (purpose?.state === "done") return true;
  if (noted !== undefined) await refuseUnstarted(ledger, noted);
  return false;
};
