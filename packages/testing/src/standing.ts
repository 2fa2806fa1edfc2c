import { messageOf } from "@durable-payments/client/values";
import type { Connected } from "@durable-payments/control/connection";
import { accountOfQueue } from "@durable-payments/protocol/calls";
import type { Ledger, Question, WriteRow } from "@durable-payments/ledger";
import { isOpenStatus } from "@durable-payments/protocol";
import type { WorkflowExecutionDescription, WorkflowHandle } from "@temporalio/client";
import { setTimeout as sleep } from "node:timers/promises";

/** A write for which a person is asked. */
export type AskedWrite = WriteRow & { readonly question: Question };

/** Returns the writes of a run, under its id or a key, and of its children, for which a person is asked. */
export const askedOf = async (
  ledger: Ledger,
  workflowId: string,
): Promise<ReadonlyArray<AskedWrite>> =>
  (await ledger.rowsOf(workflowId)).flatMap(({ question, ...row }) =>
    question === null || question.approvedBy !== undefined || row.state === "ended"
      ? []
      : [{ ...row, question }],
  );

const asks = ({ question, step }: AskedWrite): string =>
  question.kind === "approval"
    ? `Its step ${step} is waiting for approval by a second person: run.approve() or run.reject(). ${question.reason}`
    : `Its step ${step} asks a person: ${question.reason} Answer with run.answer().`;

/** Ends a message with a full stop. */
const sentence = (text: string): string => `${text.replace(/\.$/, "")}.`;

type Events = NonNullable<Awaited<ReturnType<WorkflowHandle["fetchHistory"]>>["events"]>;

/** Returns the named accounts of pending activities. The description of the time-skipping server lacks their queues. */
const accountsOf = (
  events: Events,
  { pendingActivities }: WorkflowExecutionDescription["raw"],
): ReadonlyArray<string> => {
  const ids = new Set(pendingActivities?.map(({ activityId }) => activityId));
  const accounts = events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled && ids.has(scheduled.activityId)
      ? (accountOfQueue(scheduled.taskQueue?.name ?? "") ?? [])
      : [],
  );
  return [...new Set(accounts)];
};

/** The failure of a workflow task: the code threw an error that does not fail the run, and is retried forever. */
const failedTask = (events: Events): string | undefined => {
  const last = events.findLast(
    (event) =>
      event.workflowTaskFailedEventAttributes ?? event.workflowTaskCompletedEventAttributes,
  );
  const failure = last?.workflowTaskFailedEventAttributes?.failure;
  // A reset is recorded as a failed task as well.
  if (failure === undefined || failure === null || failure.resetWorkflowFailureInfo)
    return undefined;
  const [place] = failure.stackTrace?.split("\n") ?? [];
  return `Its code throws, in ${place?.trim() || "the workflow"}: ${sentence(failure.message ?? "")}`;
};

/**
 * Describes the state of a run: whom it asks, which activity waits or fails, which child it waits for and the state of
 * that, or the error of its code.
 *
 * @returns sentences, even if the run cannot be read.
 */
export const describeStanding = async (
  of: Pick<Connected, "accounts" | "ledger">,
  handle: WorkflowHandle,
): Promise<string> => {
  const { accounts, ledger } = of;
  try {
    const { raw, status } = await handle.describe();
    if (!isOpenStatus(status.name)) return `It has ended: ${status.name}.`;
    const asked = (await askedOf(ledger, handle.workflowId)).map(asks);
    const pending = (raw.pendingActivities ?? []).map(({ activityType, attempt, lastFailure }) => {
      const failure = lastFailure?.message ? `, after: ${lastFailure.message}` : "";
      return sentence(
        `The activity ${activityType?.name ?? ""} is in its attempt ${attempt ?? 1}${failure}`,
      );
    });
    const { events } = await handle.fetchHistory();
    const elsewhere = accountsOf(events ?? [], raw)
      .filter((account) => accounts.every(({ name }) => name !== account))
      .map((account) => `No worker of this test has the account "${account}".`);
    const children = await Promise.all(
      (raw.pendingChildren ?? []).map(async ({ workflowId, workflowTypeName }) => {
        const child = handle.client.getHandle(workflowId ?? "");
        return `It is waiting for the child ${workflowId} (${workflowTypeName}): ${await describeStanding(of, child)}`;
      }),
    );
    const thrown = failedTask(events ?? []);
    const all = [
      ...asked,
      ...pending,
      ...elsewhere,
      ...children,
      ...(thrown === undefined ? [] : [thrown]),
    ];
    return all.length === 0
      ? "It is not waiting for an activity, a child or a person."
      : all.join(" ");
  } catch (error) {
    return `Its state cannot be read: ${messageOf(error)}.`;
  }
};

/** A wait of a test has lasted too long; the message has the state of the run. */
export class WaitedTooLong extends Error {
  override readonly name = "WaitedTooLong";
}

/**
 * Waits no longer than a limit of real time.
 *
 * @param limitMs the limit, in milliseconds.
 * @param wait ends when the signal aborts.
 * @param explain is asked when the limit is reached: what was waited for, and what keeps it.
 * @throws WaitedTooLong with what `explain` says.
 */
export const withinLimit = async <A>(
  limitMs: number,
  wait: (signal: AbortSignal) => Promise<A>,
  explain: () => Promise<string>,
): Promise<A> => {
  const over = new AbortController();
  const waiting = wait(over.signal);
  try {
    const ended = await Promise.race([
      waiting.then((value) => ({ value })),
      sleep(limitMs, undefined, { signal: over.signal }),
    ]);
    if (ended !== undefined) return ended.value;
    throw new WaitedTooLong(
      `${await explain()} (It waited ${limitMs / 1000} s: see waitLimitMs and the runner's timeout.)`,
    );
  } finally {
    over.abort();
    // Nobody needs the end of a wait that was given up.
    await waiting.catch(() => undefined);
  }
};
