import type { ForgottenSend } from "@durable-payments/activities";
import { isStep, PAYMENT_ACCOUNT, PAYMENT_IDS } from "@durable-payments/protocol";
import { defaultPayloadConverter } from "@temporalio/common";
import type { History } from "@temporalio/common/lib/proto-utils.js";
import type { temporal } from "@temporalio/proto";
import { isRecord } from "../../input/fields.ts";
import { activityEndOf, type Event, searchAttributeOf } from "../history-steps.ts";
import { stageOf } from "../stages.ts";
import { endingDecisionOf, type ToldDecision } from "./ended-by-person.ts";

type EventId = NonNullable<Event["eventId"]>;

type Payload = temporal.api.common.v1.IPayload;

/** An activity of a step. */
export interface PastActivity {
  readonly type: string;
  readonly input: unknown;
  /** Event at which it was scheduled, and when: milliseconds since 1970. */
  readonly at: number;
  readonly isDone: boolean;
  readonly result: unknown;
  /** Type of the failure it ended with, and its first detail. */
  readonly failure: string;
  readonly failureDetail: unknown;
}

/** A step of a run, as its history tells of it. */
export interface PastStep {
  readonly name: string;
  /** The workflow task in which it began: a reset to it does the step again, and nothing before. */
  readonly task: number;
  /** The event that ended that workflow task. */
  readonly taskEnd: EventId;
  readonly activities: Array<PastActivity>;
  /** What people decided for it, oldest first. */
  readonly decisions: Array<Decision>;
}

/** What a person decided for a step that asked. */
export type Decision = Readonly<Record<string, unknown>>;

/** What changed the input of a run: the answer to what it asked about its reset, or a person. */
export type InputChange =
  | { readonly by: "reset"; readonly answer: unknown }
  | { readonly by: "decision"; readonly step: string; readonly decision: Decision };

/** The step that a send's intent, or a look-up's input, names. */
const stepNamedIn = (value: unknown): string | undefined =>
  isRecord(value) && typeof value["step"] === "string" ? value["step"] : undefined;

/** A run's history, read. */
export interface ReadRun {
  readonly startedWith: unknown;
  readonly steps: ReadonlyArray<PastStep>;
  /** Its PaymentIds at last. */
  readonly ids: ReadonlySet<string>;
  /** Where it was made by a reset: the run that was reset, and the reason. */
  readonly reset: { readonly runId: string; readonly reason: string } | undefined;
  /** Oldest first. */
  readonly changes: ReadonlyArray<InputChange>;
  /** What it had sent, as the journal told it at its end, before its history was put back. */
  readonly forgotten: ReadonlyArray<ForgottenSend>;
  /** The account that it was pinned to, as a hash. */
  readonly account: string | undefined;
  /** The decision of a person by which it ended. */
  readonly endedBy: ToldDecision | undefined;
  /** Who asked it to end, whatever it ended with, and the event by which it was told. */
  readonly cancelAsked: { readonly by: string; readonly event: number } | undefined;
}

const read = (payload: Payload | null | undefined): unknown =>
  payload ? defaultPayloadConverter.fromPayload<unknown>(payload) : undefined;

const taskOf = (event: Event): EventId | undefined =>
  event.upsertWorkflowSearchAttributesEventAttributes?.workflowTaskCompletedEventId ??
  event.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId ??
  event.timerStartedEventAttributes?.workflowTaskCompletedEventId ??
  event.markerRecordedEventAttributes?.workflowTaskCompletedEventId ??
  undefined;

type Request = temporal.api.update.v1.IRequest;

/**
 * The decision that a run takes with the event, if it takes one. One that was given again after a
 * reset stands in an event of its own before, and is none unless it is accepted.
 */
const decisionOf = (
  { workflowExecutionUpdateAcceptedEventAttributes: accepted }: Event,
  given: ReadonlyMap<string, Request>,
): Decision | undefined => {
  if (!accepted) return undefined;
  const again = given.get(accepted.protocolInstanceId ?? "");
  const input = (accepted.acceptedRequest ?? again)?.input;
  if (input?.name !== "resolve") return undefined;
  const decision = read(input.args?.payloads?.[0]);
  return isRecord(decision) ? decision : undefined;
};

/** What a local activity answered, if the event is of one of this type. */
const localAnswerOf = (event: Event, type: string): unknown => {
  const details = event.markerRecordedEventAttributes?.details;
  const about = read(details?.["data"]?.payloads?.[0]);
  return isRecord(about) && about["activity_type"] === type
    ? read(details?.["result"]?.payloads?.[0])
    : undefined;
};

/**
 * Reads the steps of a run. A run writes its stage when its code yields: a command belongs to the
 * stage that is written next by the same workflow task, and else to the one that holds.
 */
export const readRun = ({ events }: History): ReadRun => {
  const all = events ?? [];
  const steps = new Map<string, PastStep>();
  const scheduled = new Map<string, { readonly step: PastStep; readonly index: number }>();
  const ids = new Set<string>();
  const changes: Array<InputChange> = [];
  const forgotten: Array<ForgottenSend> = [];
  const givenAgain = new Map<string, Request>();
  let current: PastStep | undefined;
  let reset: ReadRun["reset"];
  let account: string | undefined;
  let endedBy: ReadRun["endedBy"];
  let cancelAsked: ReadRun["cancelAsked"];

  const stepOf = (name: string, taskEnd: EventId): PastStep => {
    const step = steps.get(name) ?? {
      name,
      task: Number(taskEnd),
      taskEnd,
      activities: [],
      decisions: [],
    };
    steps.set(name, step);
    return step;
  };
  const enter = (name: string, taskEnd: EventId): void => {
    if (isStep(name)) current = stepOf(name, taskEnd);
  };
  const nextStage = (index: number, task: EventId): string | undefined => {
    for (const event of all.slice(index + 1)) {
      const stage = stageOf(event);
      if (stage !== undefined && String(taskOf(event)) === String(task)) return stage;
      if (event.workflowTaskScheduledEventAttributes) return undefined;
    }
    return undefined;
  };

  all.forEach((event, index) => {
    const stage = stageOf(event);
    const task = taskOf(event);
    if (stage !== undefined && task !== undefined) enter(stage, task);
    const owned = searchAttributeOf(event, PAYMENT_IDS.name);
    if (Array.isArray(owned)) {
      ids.clear();
      for (const id of owned) ids.add(String(id));
    }
    const pinned = searchAttributeOf(event, PAYMENT_ACCOUNT.name);
    if (typeof pinned === "string") account = pinned;
    endedBy ??= endingDecisionOf(event);
    const cancel = event.workflowExecutionCancelRequestedEventAttributes;
    if (cancel) cancelAsked = { by: cancel.identity ?? "", event: Number(event.eventId) };
    const { activityTaskScheduledEventAttributes: activity, workflowTaskFailedEventAttributes } =
      event;
    if (activity && task !== undefined) {
      const [input, intent] = [0, 1].map((at) => read(activity.input?.payloads?.[at]));
      // Sends and look-ups say which step they are of: steps may go on side by side.
      const named = stepNamedIn(intent) ?? stepNamedIn(input);
      if (named !== undefined) stepOf(named, task);
      const next = nextStage(index, task);
      if (next !== undefined) enter(next, task);
      const step = named === undefined ? current : stepOf(named, task);
      if (step) {
        scheduled.set(String(event.eventId), { step, index: step.activities.length });
        step.activities.push({
          type: activity.activityType?.name ?? "",
          input,
          at: Number(event.eventTime?.seconds ?? 0) * 1000 + (event.eventTime?.nanos ?? 0) / 1e6,
          isDone: false,
          result: undefined,
          failure: "",
          failureDetail: undefined,
        });
      }
    }
    const end = activityEndOf(event);
    const begun = end && scheduled.get(end.scheduledBy);
    const ended = begun?.step.activities[begun.index];
    if (end && begun && ended) {
      begun.step.activities[begun.index] = {
        ...ended,
        isDone: end.outcome === "done",
        result: read(end.result),
        failure: end.failure?.applicationFailureInfo?.type ?? "",
        failureDetail: read(end.failure?.applicationFailureInfo?.details?.payloads?.[0]),
      };
    }
    const again = event.workflowExecutionUpdateAdmittedEventAttributes?.request;
    if (again) givenAgain.set(again.meta?.updateId ?? "", again);
    const decision = decisionOf(event, givenAgain);
    if (decision && current) {
      current.decisions.push(decision);
      changes.push({ by: "decision", step: current.name, decision });
    }
    const answer = localAnswerOf(event, "readRetryInstruction");
    if (answer !== undefined) changes.push({ by: "reset", answer });
    const told = localAnswerOf(event, "findForgottenSends");
    // The activity's own result, as its history has it.
    if (Array.isArray(told)) forgotten.push(...(told as ReadonlyArray<ForgottenSend>));
    if (workflowTaskFailedEventAttributes?.newRunId) {
      const { baseRunId, failure } = workflowTaskFailedEventAttributes;
      reset = { runId: baseRunId ?? "", reason: failure?.message ?? "" };
    }
  });
  return {
    startedWith: read(all[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]),
    steps: [...steps.values()],
    ids,
    reset,
    changes,
    forgotten,
    account,
    endedBy,
    cancelAsked,
  };
};
