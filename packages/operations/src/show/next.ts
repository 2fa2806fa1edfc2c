import type { RecordedWait } from "@durable-payments/ledger";
import { failureTypes } from "@durable-payments/protocol/calls";
import type { NextOperation } from "../errors.ts";
import type { InboxItem, RunDetails, RunView, Status } from "./run-view.ts";
import { isRefused } from "./steps.ts";

const UNHAPPY: ReadonlyArray<Status> = ["failed", "cancelled"];

/** Types of failures that a retry runs into again. */
const HOPELESS: ReadonlySet<string> = new Set([
  failureTypes.alreadyCarriedOut,
  failureTypes.madeTwice,
  failureTypes.payoutFailed,
]);

/** What decides whether a retry may help. */
interface Found {
  readonly inbox: ReadonlyArray<InboxItem>;
  readonly failure: RunDetails["failure"];
  readonly waits: ReadonlyArray<RecordedWait>;
}

/** Returns the retries that are not refused at once, and may end otherwise. */
const retriesOf = (
  { runId, statuses, workflowId }: RunView,
  { failure, inbox, waits }: Found,
): ReadonlyArray<NextOperation> => {
  const isHopeless =
    HOPELESS.has(failure?.type ?? "") ||
    (failure?.type === failureTypes.notVerified && waits.some(isRefused));
  // A retry asks the same question again.
  if (isHopeless || inbox.some(({ kind }) => kind === "question")) return [];
  const retry = { operation: "retry", workflowId } as const;
  const ifRun = runId === null ? {} : { ifRun: runId };
  if (statuses.includes("ended")) return [{ ...retry, ...ifRun, isOverruling: true }];
  if (failure?.type === failureTypes.invalidRequest)
    return [{ ...retry, ...ifRun, isAmended: true }];
  return [
    { ...retry, isDryRun: true },
    { ...retry, ...ifRun },
  ];
};

/**
 * Says what can be done about a run.
 *
 * @returns at most three, the most useful first.
 */
export const nextOf = (view: RunView, found: Found): ReadonlyArray<NextOperation> => {
  const { batch, statuses, workflowId } = view;
  const { inbox } = found;
  const has = (status: Status) => statuses.includes(status);
  const next: Array<NextOperation> = [];
  for (const item of inbox) {
    const id = item.workflowId;
    if (item.kind === "approval") {
      next.push({ operation: "approve", workflowId: id }, { operation: "reject", workflowId: id });
    } else if (item.kind === "question") next.push({ operation: "answer", workflowId: id });
  }
  if (has("paused")) next.push({ operation: "resume" });
  if (UNHAPPY.some(has)) next.push(...retriesOf(view, found));
  if (has("running") && next.length === 0) {
    next.push(
      { operation: "show", workflowId, isFollowed: true },
      { operation: "cancel", workflowId },
    );
  }
  if (batch !== null) next.push({ operation: "show", workflowId: batch });
  next.push({ operation: "show", workflowId, isLog: true });
  return next.slice(0, 3);
};
