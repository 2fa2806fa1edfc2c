import { isStep, NEEDS_ATTENTION, undoFailedIn } from "@durable-payments/protocol";
import type { History } from "@temporalio/common/lib/proto-utils.js";
import { activityEndOf, type Event, summaryOf, timeOf } from "../history-steps.ts";
import { stageOf } from "../stages.ts";
import { failureOf, masked } from "./masked.ts";
import { messageOf } from "./message.ts";
import type { StoryActivity, StoryEvent, StoryStep, StoryTimer } from "./story.ts";

/** What a stage tells that is no step of its own: it belongs to the step that the run is at. */
const toldBy = (stage: string, at: string): StoryEvent | undefined => {
  if (stage === NEEDS_ATTENTION) return { kind: "question", since: at };
  const what = undoFailedIn(stage);
  return what === undefined ? undefined : { kind: "leftOver", what, at };
};

/** The workflow task that gave the command which an event tells of. */
const taskOf = (event: Event): string | undefined => {
  const command =
    event.upsertWorkflowSearchAttributesEventAttributes ??
    event.activityTaskScheduledEventAttributes ??
    event.timerStartedEventAttributes ??
    event.markerRecordedEventAttributes;
  return command ? String(command.workflowTaskCompletedEventId) : undefined;
};

/** Most commands of one workflow task that are looked through. */
const LONGEST_TASK = 100;

interface OpenStep {
  readonly name: string;
  readonly since: string;
  until: string | null;
  readonly events: Array<StoryEvent>;
}

const took = (since: string, until: string): number => Date.parse(until) - Date.parse(since);

/**
 * Reads the steps of a run from its history. A run writes its stage when its code yields, and so
 * after the commands that the step gave until then: a command belongs to the stage that is written
 * next by the same workflow task, and else to the one that holds.
 */
class StepReader {
  readonly #steps = new Map<string, OpenStep>();
  /** Where the activities and timers that have begun stand. */
  readonly #begun = new Map<string, { readonly step: OpenStep; readonly index: number }>();
  #current: OpenStep | undefined;
  readonly #events: ReadonlyArray<Event>;

  constructor(events: ReadonlyArray<Event>) {
    this.#events = events;
  }

  read(): ReadonlyArray<OpenStep> {
    this.#events.forEach((event, index) => {
      const stage = stageOf(event);
      const told = stage === undefined ? messageOf(event) : toldBy(stage, timeOf(event));
      if (told) this.#current?.events.push(told);
      else if (stage !== undefined) this.#enter(stage, timeOf(event));
      this.#begin(event, index);
      this.#end(event);
    });
    return [...this.#steps.values()];
  }

  /** Steps have names of their own: a name that was there before is the same step, gone on with. */
  #enter(stage: string, at: string): void {
    if (stage === this.#current?.name) return;
    if (this.#current) this.#current.until = at;
    const step = this.#steps.get(stage) ?? { name: stage, since: at, until: null, events: [] };
    step.until = null;
    this.#steps.set(stage, step);
    this.#current = step;
  }

  /** The step to which the command of an event belongs. */
  #stepOf(event: Event, index: number): OpenStep | undefined {
    const task = taskOf(event);
    const rest = this.#events.slice(index + 1, index + 1 + LONGEST_TASK);
    const after = rest.findIndex((next) => taskOf(next) !== task);
    const stage = rest
      .slice(0, after === -1 ? rest.length : after)
      .map(stageOf)
      .find((written) => written !== undefined && isStep(written));
    if (stage !== undefined) this.#enter(stage, timeOf(event));
    return this.#current;
  }

  #begin(event: Event, index: number): void {
    const begun = activityOf(event) ?? timerOf(event);
    if (!begun) return;
    const step = this.#stepOf(event, index);
    if (!step) return;
    this.#begun.set(String(event.eventId), { step, index: step.events.length });
    step.events.push(begun);
  }

  #end(event: Event): void {
    const started = event.activityTaskStartedEventAttributes;
    if (started) {
      this.#change(String(started.scheduledEventId), (activity) => ({
        ...activity,
        attempts: started.attempt ?? 1,
        failure: failureOf(started.lastFailure),
      }));
    }
    const at = timeOf(event);
    const end = activityEndOf(event);
    if (end) {
      this.#change(end.scheduledBy, (activity) => ({
        ...activity,
        until: at,
        tookMs: took(activity.since, at),
        outcome: end.outcome,
        failure: failureOf(end.failure) ?? activity.failure,
      }));
    }
    const fired =
      event.timerFiredEventAttributes?.startedEventId ??
      event.timerCanceledEventAttributes?.startedEventId;
    const timer =
      fired === undefined || fired === null ? undefined : this.#begun.get(String(fired));
    const waited = timer?.step.events[timer.index];
    if (timer && waited?.kind === "timer") {
      timer.step.events[timer.index] = { ...waited, until: at, tookMs: took(waited.since, at) };
    }
  }

  #change(scheduledBy: string, change: (activity: StoryActivity) => StoryActivity): void {
    const begun = this.#begun.get(scheduledBy);
    const activity = begun?.step.events[begun.index];
    if (begun && activity?.kind === "activity") begun.step.events[begun.index] = change(activity);
  }
}

const activityOf = (event: Event): StoryActivity | undefined => {
  const activity = event.activityTaskScheduledEventAttributes?.activityType?.name;
  if (!activity) return undefined;
  return {
    kind: "activity",
    activity,
    summary: masked(summaryOf(event)) ?? null,
    since: timeOf(event),
    until: null,
    tookMs: null,
    outcome: "pending",
    attempts: 0,
    failure: null,
    nextAttemptAt: null,
  };
};

const timerOf = (event: Event): StoryTimer | undefined =>
  event.timerStartedEventAttributes
    ? {
        kind: "timer",
        summary: masked(summaryOf(event)) ?? null,
        since: timeOf(event),
        until: null,
        tookMs: null,
      }
    : undefined;

/** How a run ended, as far as it tells how its steps did; undefined while it goes on. */
export interface RunEnd {
  readonly at: string;
  readonly isDone: boolean;
  readonly isCancelled: boolean;
}

/** The steps of a run, from its history alone. */
export const storySteps = (
  { events }: History,
  end: RunEnd | undefined,
): ReadonlyArray<StoryStep> => {
  const steps = new StepReader(events ?? []).read();
  return steps.map(({ events, name, since, until }, index) => {
    const isOpen = end === undefined && until === null;
    const over = until ?? end?.at ?? null;
    const broken = end?.isCancelled === true ? "cancelled" : "failed";
    const isBroken = end !== undefined && !end.isDone && index === steps.length - 1;
    return {
      name,
      outcome: isOpen ? "running" : isBroken ? broken : "done",
      since,
      until: over,
      tookMs: over === null ? null : took(since, over),
      events,
    };
  });
};
