import {
  type NotificationType,
  PAYMENT_BATCH,
  PAYMENT_STAGE,
  type QueuedNotification,
  shellQuoted,
  WORKFLOW,
} from "@durable-payments/protocol";
import type { WorkflowExecutionInfo } from "@temporalio/client";
import { createHash } from "node:crypto";

/** Whose notifications they are. */
export interface NotifierPlace {
  readonly namespace: string;
  /** The base queue. */
  readonly taskQueue: string;
  /** Address of Temporal's Web UI. */
  readonly webUi?: string | undefined;
}

/** What happened to a run. */
export interface Occurrence {
  readonly type: NotificationType;
  readonly at: Date;
  readonly state: string;
  /** What distinguishes it from another one of its type of the same run. */
  readonly which?: string;
  /** Of a batch: how many of its rows ended how. */
  readonly rows?: Readonly<Record<string, number>> | undefined;
}

/** A run as visibility shows it. */
export type ListedRun = Pick<
  WorkflowExecutionInfo,
  "workflowId" | "runId" | "type" | "typedSearchAttributes"
>;

const ID_DIGITS = 32;

/** The same for the same occurrence, whichever worker finds it. */
const notificationId = (...of: ReadonlyArray<string>): string =>
  `msg_${createHash("sha256").update(JSON.stringify(of)).digest("hex").slice(0, ID_DIGITS)}`;

/** The command that shows a run; none for an id that a terminal may show as something else. */
const commandFor = (type: NotificationType, workflowId: string): string | undefined => {
  if (/[\p{C}\p{Z}]/u.test(workflowId.replaceAll(" ", ""))) return undefined;
  const words =
    type === "batch.ended" ? "payouts status" : type === "run.failed" ? "runs show" : "status";
  return `starter ${words} ${shellQuoted(workflowId)}`;
};

const webUiOf = (
  { namespace, webUi }: NotifierPlace,
  { runId, workflowId }: ListedRun,
): string | undefined => {
  if (webUi === undefined) return undefined;
  const path = ["namespaces", namespace, "workflows", workflowId, runId].map(encodeURIComponent);
  return `${webUi.replace(/\/+$/, "")}/${path.join("/")}`;
};

/**
 * Make the notification of what happened to a run: names and states, and nothing of what is paid to whom.
 *
 * @param place namespace, task queue and Web UI.
 * @param run as visibility shows it.
 * @param occurrence what happened, and when.
 * @returns the notification, and an id that is the same for the same occurrence.
 */
export const notificationOf = (
  place: NotifierPlace,
  run: ListedRun,
  { at, rows, state, type, which = "" }: Occurrence,
): QueuedNotification => {
  const { runId, type: workflowType, typedSearchAttributes, workflowId } = run;
  const stage = typedSearchAttributes.get(PAYMENT_STAGE);
  const batch =
    workflowType === WORKFLOW.payoutBatch ? workflowId : typedSearchAttributes.get(PAYMENT_BATCH);
  const webUi = webUiOf(place, run);
  const command = commandFor(type, workflowId);
  return {
    id: notificationId(type, place.namespace, runId, which),
    notification: {
      type,
      timestamp: at.toISOString(),
      data: {
        namespace: place.namespace,
        taskQueue: place.taskQueue,
        workflowId,
        runId,
        workflowType,
        state,
        ...(stage !== undefined && { stage }),
        ...(batch !== undefined && { batch }),
        ...(rows !== undefined && { rows }),
        ...(webUi !== undefined && { webUi }),
        ...(command !== undefined && { command }),
      },
    },
  };
};
