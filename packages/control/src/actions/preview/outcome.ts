/*
 * The outcome of a run in the sandbox of a preview.
 *
 * The end of a run says too little. A run that asks, waits for an approval, or reached an activity of the user's own stays
 * open. A run whose code throws stays open, too: Temporal would try its task again forever.
 */
import type { WriteRow } from "@durable-payments/ledger";
import { isOpenStatus } from "@durable-payments/protocol";
import type { History } from "@durable-payments/replay";
import { closeFailureOf, type Event, failureOf } from "../../facts/history.ts";
import { type PreviewedRun, writeOf } from "../../rules/preview.ts";
import type { planRetryOf, RetryOptions } from "../retry/retry.ts";
import type { Sandbox } from "./sandbox.ts";

type Planned = Awaited<ReturnType<typeof planRetryOf>>;

/** A run that can be retried. */
export interface Prepared {
  readonly planned: Planned;
  readonly options: RetryOptions;
  readonly history: History;
  /** The part that a retry keeps; undefined if it starts again. */
  readonly kept: History | undefined;
  readonly rows: ReadonlyArray<WriteRow>;
}

/** The outcome of a run, with what is known besides. */
export type Ended = Pick<PreviewedRun, "outcome"> & Partial<PreviewedRun>;

/** Longest time that passes in the sandbox: a run that still waits waits for a person, or a message. */
const MOST_PASSED_MS = 2 * 365 * 24 * 3_600_000;

const eventsOf = async (client: Sandbox["client"], id: string): Promise<ReadonlyArray<Event>> =>
  (await client.workflow.getHandle(id).fetchHistory()).events ?? [];

/** Reads the events of a run and its children in the sandbox, by workflow id. */
const familyOf = async (client: Sandbox["client"], id: string) => {
  const events = await eventsOf(client, id);
  const family = new Map([[id, events]]);
  for (const { childWorkflowExecutionStartedEventAttributes: child } of events)
    if (child?.workflowExecution?.workflowId)
      for (const [one, its] of await familyOf(client, child.workflowExecution.workflowId))
        family.set(one, its);
  return family;
};

/** Returns the failure of the last workflow task: its code threw, and Temporal would try it again forever. */
const failedTask = (events: ReadonlyArray<Event>) => {
  const last = events.findLast(
    (event) =>
      event.workflowTaskFailedEventAttributes ?? event.workflowTaskCompletedEventAttributes,
  );
  return last?.workflowTaskFailedEventAttributes?.failure;
};

type Traced = NonNullable<ReturnType<typeof failedTask>>;

const stacksOf = ({ cause, stackTrace }: Traced): ReadonlyArray<string> => [
  ...(stackTrace ? [stackTrace] : []),
  ...(cause ? stacksOf(cause) : []),
];

/**
 * Looks whether the outcome of a run in the sandbox is known, and which writes it has sent.
 *
 * @param passed time in the sandbox; undefined while it does not pass: then only code that throws is an outcome.
 */
export const look = async (
  { client, ledger, stopped }: Sandbox,
  { rows: before, planned }: Prepared,
  passed: number | undefined,
): Promise<(Ended & { readonly isStuck: boolean }) | undefined> => {
  const { linesOf } = await import("@durable-payments/replay");
  const { workflowId } = planned.plan;
  const { status } = await client.workflow.getHandle(workflowId).describe();
  const family = await familyOf(client, workflowId);
  const found = new Map<string, WriteRow>();
  for (const id of family.keys())
    for (const row of await ledger.rowsOf(id))
      found.set(JSON.stringify([row.workflowId, row.step, row.account]), row);
  const rows = [...found.values()];
  const wasDone = ({ account, step, workflowId: id }: WriteRow) =>
    before.some(
      (one) =>
        one.state === "done" &&
        one.step === step &&
        one.workflowId === id &&
        one.account === account,
    );
  const writes = rows.filter((row) => row.state === "done" && !wasDone(row)).map(writeOf);
  const ended = (outcome: PreviewedRun["outcome"], more: Partial<PreviewedRun> = {}) => ({
    ...more,
    outcome,
    writes,
    isStuck: false,
  });
  const fails = (failure: Parameters<typeof failureOf>[0], event?: Event) => {
    const read = closeFailureOf(event) ?? failureOf(failure);
    const { details } = read ?? {};
    const step = details && typeof details === "object" && "step" in details ? details.step : null;
    return ended("fails", {
      step: typeof step === "string" ? step : null,
      why: read && `${read.type}: ${read.message}`,
      lines: failure ? linesOf(stacksOf(failure)) : [],
    });
  };
  const isOpen = isOpenStatus(status.name);
  const thrown = isOpen ? [...family.values()].map(failedTask).find(Boolean) : undefined;
  if (thrown) return { ...fails(thrown), isStuck: true };
  if (passed === undefined) return undefined;
  if (status.name === "COMPLETED") return ended("completes");
  const stop = [...family.keys()].flatMap((id) => stopped.get(id) ?? [])[0];
  if (stop !== undefined) return ended("ownActivity", { step: stop });
  const asking = rows.find(
    ({ question, state }) =>
      question !== null && question.approvedBy === undefined && state !== "ended",
  );
  if (asking?.question) {
    const { kind, reason } = asking.question;
    // The simulated payee has no account.
    const why = reason.replace(/ It pays .*$/s, "");
    return ended(kind === "approval" ? "approval" : "asks", { step: asking.step, why });
  }
  if (!isOpen) {
    const last = (family.get(workflowId) ?? []).at(-1);
    return fails(last?.workflowExecutionFailedEventAttributes?.failure, last);
  }
  return passed > MOST_PASSED_MS
    ? ended("waits", {
        why: "It waits for a message or time that did not come in two simulated years.",
      })
    : undefined;
};
