import type { ForgottenSend } from "@durable-payments/activities";
import { isRecord } from "@durable-payments/api-core/values";
import {
  isStep,
  NEEDS_ATTENTION,
  PAYMENT_ACCOUNT,
  PAYMENT_IDS,
  PAYMENT_IN_DOUBT,
  resolveUpdate,
  undoFailedIn,
} from "@durable-payments/protocol";
import type { History } from "@temporalio/common/lib/proto-utils.js";
import type { temporal } from "@temporalio/proto";
import { endedBeforeReset } from "./before-reset.ts";
import { askedToEndBy } from "./cancel-request.ts";
import { endingDecisionOf } from "./ending-decisions.ts";
import {
  activityEndOf,
  decoded,
  decodedIfReadable,
  type Event,
  type EventId,
  localAnswerOf,
  millisecondsOf,
  searchAttributeOf,
  stageOf,
  summaryOf,
  taskOf,
  timeOf,
  writtenOf,
} from "./events.ts";
import type {
  HistoryActivity,
  HistoryEvent,
  InputChange,
  ReadHistory,
  ReadRun,
  StepDecision,
} from "./run-history.ts";
import { resetPoint } from "./reset-point.ts";

/** The step that a send's intent, or the input of a reconciliation, names. */
const stepNamedIn = (value: unknown): string | undefined =>
  isRecord(value) && typeof value["step"] === "string" ? value["step"] : undefined;

/** By which a run asks the journal what it does not know of. */
const FIND_FORGOTTEN = "findForgottenSends";

/** The failure of a run that was retried with an amendment that its worker refused. */
const AMENDMENT_REFUSED = "AmendmentRefused";

const endsRefused = (event: Event | undefined): boolean =>
  event?.workflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo?.type ===
  AMENDMENT_REFUSED;

/** Read what a run has done. */
export const readRun = ({ events }: History): ReadHistory => new HistoryReader(events ?? []).read();

type Request = temporal.api.update.v1.IRequest;

type Writable<A> = { -readonly [Field in keyof A]: A[Field] };

/** Where a decision that a run accepted has been noted. */
interface TakenDecision {
  readonly step: OpenStep;
  readonly update: HistoryEvent;
  readonly change: InputChange & { readonly by: "decision" };
}

/** A step while it is read. */
class OpenStep {
  readonly name: string;
  readonly task: number;
  readonly taskEnd: EventId;
  readonly since: string;
  until: string | undefined;
  hasFailedChild = false;
  readonly events: Array<Writable<HistoryEvent>> = [];
  readonly decisions: Array<StepDecision> = [];

  constructor(name: string, taskEnd: EventId, since: string) {
    this.name = name;
    this.task = Number(taskEnd);
    this.taskEnd = taskEnd;
    this.since = since;
  }

  get activities(): ReadonlyArray<HistoryActivity> {
    return this.events.filter((event) => event.kind === "activity");
  }
}

/**
 * Reads a history. A run writes its stage when its code yields: a command belongs to the step that
 * the command itself names, else to the stage that is written next by the same workflow task, and
 * else to the one that holds.
 */
class HistoryReader {
  readonly #events: ReadonlyArray<Event>;
  readonly #steps = new Map<string, OpenStep>();
  readonly #activities = new Map<string, Writable<HistoryActivity>>();
  readonly #timers = new Map<string, Writable<HistoryEvent & { readonly kind: "timer" }>>();
  /** The steps of children, by the event that initiated the child. */
  readonly #children = new Map<string, OpenStep>();
  /** Updates that were given again after a reset, by id. */
  readonly #givenAgain = new Map<string, Request>();
  readonly #changes: Array<InputChange> = [];
  /** Decisions that the run accepted, by the event in which it did. */
  readonly #taken = new Map<string, TakenDecision>();
  readonly #forgotten: Array<ForgottenSend> = [];
  #askedForForgotten = "";
  #ids: ReadonlySet<string> = new Set();
  #namedInDoubt = "";
  #current: OpenStep | undefined;
  #reset: ReadRun["reset"];
  #resetAt: string | undefined;
  #account: string | undefined;
  #endedBy: ReadRun["endedBy"];
  #cancelAsked: ReadRun["cancelAsked"];

  constructor(events: ReadonlyArray<Event>) {
    this.#events = events;
  }

  read(): ReadHistory {
    this.#events.forEach((event, index) => {
      this.#readStage(event);
      this.#readAttributes(event);
      this.#readActivity(event, index);
      this.#readTimer(event, index);
      this.#readChild(event);
      this.#readMessages(event);
      this.#readRefusedUpdate(event);
      this.#readLocalAnswers(event);
      this.#readForgottenByServer(event);
      this.#readReset(event);
    });
    const [first] = this.#events;
    // A retry whose amendment was refused began no step: the last one was done before, unless it was not over.
    const isOver =
      endsRefused(this.#events.at(-1)) &&
      endedBeforeReset(this.#current?.events ?? [], this.#resetAt) !== undefined;
    const current = isOver ? undefined : this.#current;
    return {
      // A worker that could not decode it either has done nothing.
      startedWith: decodedIfReadable(
        first?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0],
      ),
      steps: [...this.#steps.values()].map((step) => ({
        name: step.name,
        task: step.task,
        taskEnd: resetPoint(this.#events, step.taskEnd),
        since: step.since,
        until:
          step === current
            ? undefined
            : (endedBeforeReset(step.events, this.#resetAt) ?? step.until),
        isCurrent: step === current,
        ...(step === this.#current && step.hasFailedChild && { endedByChild: true }),
        events: step.events,
        activities: step.activities,
        decisions: step.decisions,
      })),
      activities: [...this.#activities.values()],
      ids: this.#ids,
      reset: this.#reset,
      resetAt: this.#resetAt,
      changes: this.#changes,
      forgotten: this.#forgotten,
      namedInDoubt: this.#namedInDoubt,
      account: this.#account,
      endedBy: this.#endedBy,
      cancelAsked: this.#cancelAsked,
    };
  }

  /** Each step has its own name: a name that was there before is the same step, gone on with. */
  #stepOf(name: string, taskEnd: EventId, at: string): OpenStep {
    const step = this.#steps.get(name) ?? new OpenStep(name, taskEnd, at);
    this.#steps.set(name, step);
    return step;
  }

  #enter(name: string, taskEnd: EventId, at: string): void {
    if (!isStep(name)) return;
    const step = this.#stepOf(name, taskEnd, at);
    if (step === this.#current) return;
    if (this.#current) this.#current.until = at;
    step.until = undefined;
    this.#current = step;
  }

  #nextStage(index: number, task: EventId): string | undefined {
    for (let at = index + 1; at < this.#events.length; at += 1) {
      const event = this.#events[at];
      if (event === undefined || event.workflowTaskScheduledEventAttributes) return undefined;
      const stage = stageOf(event);
      if (stage !== undefined && String(taskOf(event)) === String(task)) return stage;
    }
    return undefined;
  }

  /** The step of a command that names none. */
  #stepOfCommand(event: Event, index: number, task: EventId): OpenStep | undefined {
    const next = this.#nextStage(index, task);
    if (next !== undefined) this.#enter(next, task, timeOf(event));
    return this.#current;
  }

  #readStage(event: Event): void {
    const stage = stageOf(event);
    const task = taskOf(event);
    if (stage === undefined || task === undefined) return;
    const at = timeOf(event);
    const undoFailed = undoFailedIn(stage);
    if (stage === NEEDS_ATTENTION) this.#current?.events.push({ kind: "humanTask", since: at });
    else if (undoFailed !== undefined) {
      this.#current?.events.push({ kind: "undoFailed", what: undoFailed, at });
    } else this.#enter(stage, task, at);
  }

  #readAttributes(event: Event): void {
    const owned = searchAttributeOf(event, PAYMENT_IDS.name);
    if (Array.isArray(owned)) this.#ids = new Set(owned.map(String));
    const pinned = searchAttributeOf(event, PAYMENT_ACCOUNT.name);
    if (typeof pinned === "string") this.#account = pinned;
    const inDoubt = writtenOf(event, PAYMENT_IN_DOUBT.name);
    if (inDoubt !== undefined) this.#namedInDoubt = typeof inDoubt === "string" ? inDoubt : "";
    this.#endedBy ??= endingDecisionOf(event);
    const cancel = event.workflowExecutionCancelRequestedEventAttributes;
    if (cancel) this.#cancelAsked = { by: askedToEndBy(cancel), event: Number(event.eventId) };
  }

  #readActivity(event: Event, index: number): void {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) this.#begin(event, index, scheduled);
    const started = event.activityTaskStartedEventAttributes;
    const trying = started && this.#activities.get(String(started.scheduledEventId));
    if (started && trying) {
      trying.attempts = started.attempt ?? 1;
      trying.lastFailure = started.lastFailure ?? undefined;
    }
    const end = activityEndOf(event);
    const ended = end && this.#activities.get(end.scheduledBy);
    if (end && ended) {
      ended.until = timeOf(event);
      ended.outcome = end.outcome;
      ended.isDone = end.outcome === "done";
      ended.result = decoded(end.result);
      ended.failure = end.failure?.applicationFailureInfo?.type ?? "";
      ended.failureDetail = decoded(end.failure?.applicationFailureInfo?.details?.payloads?.[0]);
      ended.lastFailure = end.failure ?? ended.lastFailure;
    }
  }

  #begin(
    event: Event,
    index: number,
    scheduled: NonNullable<Event["activityTaskScheduledEventAttributes"]>,
  ): void {
    const task = taskOf(event);
    const [input, intent] = [0, 1].map((at) => decoded(scheduled.input?.payloads?.[at]));
    const activity: Writable<HistoryActivity> = {
      kind: "activity",
      type: scheduled.activityType?.name ?? "",
      summary: summaryOf(event),
      input,
      at: millisecondsOf(event),
      since: timeOf(event),
      until: undefined,
      outcome: "pending",
      isDone: false,
      result: undefined,
      attempts: 0,
      failure: "",
      failureDetail: undefined,
      lastFailure: undefined,
    };
    this.#activities.set(String(event.eventId), activity);
    if (task === undefined) return;
    // Sends and reconciliations say which step they are of: steps may go on side by side.
    const named = stepNamedIn(intent) ?? stepNamedIn(input);
    const step = named === undefined ? undefined : this.#stepOf(named, task, timeOf(event));
    const current = this.#stepOfCommand(event, index, task);
    // A run that was started with its first stage writes it no more.
    if (named !== undefined && current === undefined) this.#enter(named, task, timeOf(event));
    (step ?? current)?.events.push(activity);
  }

  #readTimer(event: Event, index: number): void {
    const task = taskOf(event);
    if (event.timerStartedEventAttributes && task !== undefined) {
      const timer: Writable<HistoryEvent & { readonly kind: "timer" }> = {
        kind: "timer",
        summary: summaryOf(event),
        since: timeOf(event),
        until: undefined,
      };
      this.#timers.set(String(event.eventId), timer);
      const next = this.#nextStage(index, task);
      const isOfNext = next !== undefined && isStep(next);
      const step = isOfNext ? this.#stepOf(next, task, timer.since) : this.#current;
      step?.events.push(timer);
    }
    const startedBy =
      event.timerFiredEventAttributes?.startedEventId ??
      event.timerCanceledEventAttributes?.startedEventId;
    const timer = startedBy && this.#timers.get(String(startedBy));
    if (timer) timer.until = timeOf(event);
  }

  /** A child that `runChild` started has the id of its parent, and the name of its step. Steps may go on side by side. */
  #readChild(event: Event): void {
    const task = taskOf(event);
    const childId = event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowId;
    const ownId = this.#events[0]?.workflowExecutionStartedEventAttributes?.workflowId;
    if (childId?.startsWith(`${ownId}/`) && task !== undefined) {
      const step = this.#stepOf(childId.slice(`${ownId}/`.length), task, timeOf(event));
      this.#children.set(String(event.eventId), step);
    }
    const ended =
      event.childWorkflowExecutionFailedEventAttributes ??
      event.childWorkflowExecutionTimedOutEventAttributes ??
      event.childWorkflowExecutionTerminatedEventAttributes ??
      event.childWorkflowExecutionCanceledEventAttributes;
    const step = ended && this.#children.get(String(ended.initiatedEventId));
    if (step) step.hasFailedChild = true;
  }

  /** An update that was given again after a reset counts where the run accepts it, and not before. */
  #readMessages(event: Event): void {
    const at = timeOf(event);
    const signal = event.workflowExecutionSignaledEventAttributes?.signalName;
    if (signal) this.#current?.events.push({ kind: "signal", name: signal, at });
    const again = event.workflowExecutionUpdateAdmittedEventAttributes?.request;
    if (again) this.#givenAgain.set(again.meta?.updateId ?? "", again);
    const accepted = event.workflowExecutionUpdateAcceptedEventAttributes;
    if (!accepted) return;
    const request =
      accepted.acceptedRequest ?? this.#givenAgain.get(accepted.protocolInstanceId ?? "");
    const input = request?.input;
    if (!input?.name) return;
    const content = decoded(input.args?.payloads?.[0]);
    const isGivenAgain = !accepted.acceptedRequest;
    const update = { kind: "update", name: input.name, at, content, isGivenAgain } as const;
    this.#current?.events.push(update);
    if (input.name === resolveUpdate.name && isRecord(content) && this.#current) {
      const change = { by: "decision", step: this.#current.name, decision: content } as const;
      this.#current.decisions.push(content);
      this.#changes.push(change);
      this.#taken.set(String(event.eventId), { step: this.#current, update, change });
    }
  }

  /** An amendment that the contract refused after the run had accepted the update was not taken. */
  #readRefusedUpdate(event: Event): void {
    const { acceptedEventId, outcome } =
      event.workflowExecutionUpdateCompletedEventAttributes ?? {};
    const refused = outcome?.failure && this.#taken.get(String(acceptedEventId));
    if (!refused) return;
    const { change, step, update } = refused;
    step.events.splice(step.events.indexOf(update), 1);
    step.decisions.splice(step.decisions.indexOf(change.decision), 1);
    this.#changes.splice(this.#changes.indexOf(change), 1);
  }

  #readLocalAnswers(event: Event): void {
    const answer = localAnswerOf(event, "readRetryInstruction");
    if (answer !== undefined) this.#changes.push({ by: "reset", answer });
    this.#addForgotten(localAnswerOf(event, FIND_FORGOTTEN));
  }

  /** The local activity had failed, and the server has tried it again. */
  #readForgottenByServer(event: Event): void {
    if (event.activityTaskScheduledEventAttributes?.activityType?.name === FIND_FORGOTTEN) {
      this.#askedForForgotten = String(event.eventId);
    }
    const end = activityEndOf(event);
    if (end?.outcome === "done" && end.scheduledBy === this.#askedForForgotten) {
      this.#addForgotten(decoded(end.result));
    }
  }

  #addForgotten(answer: unknown): void {
    // The activity's own result, as its history has it.
    if (Array.isArray(answer)) this.#forgotten.push(...(answer as ReadonlyArray<ForgottenSend>));
  }

  #readReset(event: Event): void {
    const { eventId, workflowTaskFailedEventAttributes: failed } = event;
    if (!failed?.newRunId || !eventId) return;
    this.#resetAt = timeOf(event);
    this.#reset = {
      runId: failed.baseRunId ?? "",
      reason: failed.failure?.message ?? "",
      task: eventId,
    };
  }
}
