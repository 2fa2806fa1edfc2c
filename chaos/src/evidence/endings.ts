import { messageOf } from "@durable-payments/client/values";
import { isOpenStatus } from "@durable-payments/protocol";
import {
  ActivityFailure,
  CancelledFailure,
  type Client,
  TerminatedFailure,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from "@temporalio/client";
import type { Environment } from "../environment/environment.ts";
import type { PlannedRun } from "../plan/planned-run.ts";
import type { Tally } from "../tally.ts";
import type { Ending, Evidence, Find } from "./evidence.ts";

const failureOf = (error: WorkflowFailedError): Ending => {
  let cause: unknown = error.cause;
  while (cause instanceof ActivityFailure && cause.cause !== undefined) cause = cause.cause;
  const failed = { status: "failed", message: messageOf(cause) } as const;
  if (cause instanceof CancelledFailure) return { ...failed, type: "Cancelled" };
  if (cause instanceof TerminatedFailure) return { ...failed, type: "Terminated" };
  return { ...failed, type: cause instanceof Error && "type" in cause ? String(cause.type) : "" };
};

const read = async (client: Client, workflowId: string): Promise<Ending> => {
  const handle = client.workflow.getHandle(workflowId);
  try {
    // Not by visibility, which lags.
    const { status } = await handle.describe();
    if (isOpenStatus(status.name)) return { status: "open" };
    return { status: "completed", result: await handle.result() };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { status: "missing" };
    if (!(error instanceof WorkflowFailedError)) throw error;
    return failureOf(error);
  }
};

/** Reads how the latest run of each id ended; open if the signal was aborted before Temporal answered. */
export const readEndings = async (
  environment: Environment,
  runs: ReadonlyArray<PlannedRun>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Ending>> => {
  const endings = new Map<string, Ending>();
  await environment.operate(async ({ client }) => {
    for (const { workflowId } of runs) endings.set(workflowId, await read(client, workflowId));
  }, signal);
  return endings;
};

/** How a run may have failed: by an injected refusal; by people, or Temporal's tools; as planned. */
type Way = "refused" | "ended" | "failed as planned";

/** The simulator's words for an injected refusal, and those for a token that it has expired. */
const INJECTED = /on demand/i;

/** The way in which a run may have failed so; undefined if it may not. */
const allowedFailure = (
  run: PlannedRun,
  { message, type }: Ending & { readonly status: "failed" },
  { back, ended, interrupted, restored }: Omit<Evidence, "service">,
): Way | undefined => {
  const isEnd = ["Ended", "Cancelled", "Terminated"].includes(type);
  if (ended.has(run.workflowId) && (isEnd || type === "Rejected")) return "ended";
  if (interrupted.has(run.workflowId) && isEnd) return "ended";
  if (run.mayFailAs.includes(type)) return "failed as planned";
  if (type === "PayoutFailed" && run.makes.some(({ mark }) => back.has(mark)))
    return "failed as planned";
  if (type === "Refused" && INJECTED.test(message)) return "refused";
  const isLedgerForgetful = restored.forgottenBefore !== undefined;
  const isAmended = run.intervention?.kind === "retry" && run.intervention.amend !== undefined;
  // One of the two requests was carried out, and Temporal or the ledger has forgotten that the run was amended.
  const isForgotten = restored.isTemporalRestored === true || isLedgerForgetful;
  if (isForgotten && isAmended && type === "AlreadyCarriedOut") return "failed as planned";
  // Its beneficiary is made again if the ledger has forgotten it; the payout to the first is found, or named.
  const hasNewPayee = run.makes.some(({ beneficiaries = [] }) =>
    beneficiaries.some((one) => "payee" in one),
  );
  const isToTheFirst = type === "PayoutDiffers" || type === "AlreadyCarriedOut";
  return isLedgerForgetful && hasNewPayee && isToTheFirst ? "failed as planned" : undefined;
};

/** Whether a row was paid before Temporal forgot its run: its file starts it no more. */
const isPaidRow = (
  { file, workflowId }: PlannedRun,
  { restored, rows }: Omit<Evidence, "service">,
): boolean =>
  restored.isTemporalRestored === true &&
  file !== undefined &&
  rows.some(
    (row) =>
      row.workflowId === workflowId && row.operation === "createPayout" && row.state === "done",
  );

/** Counts how runs ended, and finds those that may not have ended so, and writes that are not settled. */
export const checkEndings = (
  evidence: Omit<Evidence, "service">,
  find: Find,
  tally: Tally,
): void => {
  for (const run of evidence.runs) {
    const { workflowId } = run;
    const ending = evidence.endings.get(workflowId) ?? { status: "open" };
    switch (ending.status) {
      case "open":
        find("stuck", workflowId, "is open");
        break;
      case "missing":
        // The row of a file that was cancelled before it started it.
        if (evidence.interrupted.has(workflowId) && run.file !== undefined)
          tally.add("not started");
        else if (isPaidRow(run, evidence)) tally.add("paid before Temporal was lost");
        else find("lost", workflowId, "Temporal does not know the run");
        break;
      case "completed":
        tally.add("completed");
        break;
      case "failed": {
        const way = allowedFailure(run, ending, evidence);
        if (way !== undefined) tally.add(way);
        else find("wrong", workflowId, `failed without a cause: ${ending.type} ${ending.message}`);
      }
    }
  }
  for (const { message, operation, state, step, workflowId } of evidence.rows) {
    if (state !== "sending" && state !== "unknown") continue;
    const isOpen = evidence.endings.get(workflowId)?.status === "open";
    // It moves no money, and is safe to send again: of a run that has ended, it is left to the next one.
    if (operation === "createBeneficiary" && !isOpen) continue;
    find("stuck", workflowId, `${step} (${operation}) is ${state}: ${message ?? ""}`);
  }
};
