import { isRecord, lookUp } from "@durable-payments/api-core/values";
import {
  type AuditEntry,
  type EndingDecision,
  givenReason,
  patchedFields,
  paymentMemoOf,
  sendingOf,
  sendingReconciledBy,
  sendingUndoneBy,
  textAt,
} from "@durable-payments/protocol";
import type { History } from "@temporalio/common/lib/proto-utils.js";
import { askedToEndBy, withoutName } from "../history/cancel-request.ts";
import { endingOf } from "../history/close-event.ts";
import { decodedIfReadable, type Event, timeOf } from "../history/events.ts";
import { readRun } from "../history/read-run.ts";
import { takenByLikeness } from "../history/taken-by-likeness.ts";
import { hasLeftRows } from "../runs/batch-state.ts";
import { findingOf, isSentAlready, outcomeOf } from "../history/sends.ts";
import type { HistoryActivity, HistoryEvent, HistoryStep } from "../history/run-history.ts";
import type { AuditedInstruction } from "./shapes.ts";

/** Whom an entry names that is of the run itself. */
const RUN = "run";

/** The step of what is about a whole run. */
const WHOLE = "run";

type Entry = AuditEntry;

/** Who started it, and what it was to move. */
const startEntries = (first: Event | undefined): ReadonlyArray<Entry> => {
  const started = first?.workflowExecutionStartedEventAttributes;
  if (!first || !started || started.continuedExecutionRunId) return [];
  const input = decodedIfReadable(started.input?.payloads?.[0]);
  const { amount, currency } = paymentMemoOf(started.workflowType?.name ?? "", input) ?? {};
  const named = decodedIfReadable(started.memo?.fields?.["startedBy"]);
  const who = textAt({ named }, "named") ?? started.identity ?? "";
  const detail = { ...(amount !== undefined && { amount, currency }) };
  return [{ at: timeOf(first), who, step: WHOLE, what: "started", detail }];
};

/** Decisions of people that ended runs before, and who overruled them; where those runs are read that alone. */
export const decisionEntries = (
  step: string,
  decisions: ReadonlyArray<EndingDecision & { readonly workflowId?: string }>,
  shown: "both" | "overruled" = "both",
): ReadonlyArray<Entry> =>
  decisions.flatMap(({ at, by, overruled, what, why, workflowId }) => {
    const of = workflowId === undefined ? {} : { batch: workflowId };
    const decided = { at, who: by, step, what, detail: { why, ...of } };
    return [
      ...(shown === "both" ? [decided] : []),
      ...(overruled === undefined
        ? []
        : [
            {
              at: overruled.at,
              who: overruled.by,
              step,
              what: `overruled: ${what}`,
              detail: { why: overruled.why, of: by },
            },
          ]),
    ];
  });

const idsIn = (value: unknown, names: ReadonlyArray<string>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const id = textAt(value, name);
      return id === undefined ? [] : [[name, id]];
    }),
  );

const ENDED_AS = { refused: "refused", notSent: "not sent", unknown: "no answer" } as const;

const sendEntries = (step: string, activity: HistoryActivity): ReadonlyArray<Entry> => {
  const { input, lastFailure, outcome, result, since, type, until } = activity;
  const sending = sendingOf(type);
  const key = textAt(input, "unique_request_id");
  const common = { who: RUN, step, ...(key !== undefined && { key }) };
  if (sending !== undefined) {
    const begun = { ...common, at: since, what: "sending" };
    if (until === undefined) return [begun];
    const ended =
      outcome === "done"
        ? { what: "known", detail: idsIn(result, [sending.idField]) }
        : {
            // What the journal did not permit was not sent, whatever became of the send before.
            what: ENDED_AS[isSentAlready(activity) ? "notSent" : outcomeOf(activity)],
            detail: { reason: lastFailure?.message ?? outcome },
          };
    return [begun, { ...common, at: until, ...ended }];
  }
  const undone = sendingUndoneBy(type);
  if (undone !== undefined) {
    const detail = idsIn(input, [undone.idField]);
    const begun = { at: since, who: RUN, step, what: `undoing (${type})`, detail };
    if (until === undefined) return [begun];
    const reason = outcome === "done" ? {} : { reason: lastFailure?.message ?? outcome };
    const what = outcome === "done" ? `undone (${type})` : `could not undo (${type})`;
    return [begun, { at: until, who: RUN, step, what, detail: { ...detail, ...reason } }];
  }
  return sendingReconciledBy(type) !== undefined && until !== undefined
    ? [{ at: until, who: RUN, step, what: `list read: ${findingOf(activity) ?? outcome}` }]
    : [];
};

/** What a person decided, without the values of an amendment: it may hold account numbers. */
const decisionEntry = (
  step: string,
  { at, content, name }: HistoryEvent & { readonly kind: "update" },
): Entry => {
  const given = isRecord(content) ? content : {};
  const who = textAt(given, "by") ?? "unknown";
  const { abandon, amend, approve, found, reject, resend, why } = given;
  const of = (what: string, detail?: Readonly<Record<string, unknown>>): Entry => ({
    at,
    who,
    step,
    what,
    ...(detail && { detail }),
  });
  if (isRecord(amend)) return of("amended", { fields: patchedFields(amend).join(", ") });
  if (isRecord(found)) return of("decided: found", found);
  if (resend === true) return of("decided: send again");
  if (abandon !== undefined) return of("abandoned", { why: abandon });
  if (approve === true) return of("approved");
  if (reject !== undefined) return of("rejected", { why: reject });
  const done: Readonly<Record<string, string>> = {
    pause: "paused",
    resume: "resumed",
    cancel: "cancelled",
  };
  return of(lookUp(done, name) ?? name, why === undefined ? undefined : { why });
};

/** What a step took of the list, where only its fields say that it is what was sent. */
const takenEntries = (step: HistoryStep, activity: HistoryActivity, owned: ReadonlySet<string>) => {
  const taken = takenByLikeness(step, owned);
  return taken?.activity === activity
    ? [
        {
          at: activity.until ?? activity.since,
          who: RUN,
          step: step.name,
          what: taken.text,
          detail: { id: taken.id },
        },
      ]
    : [];
};

const stepEntries = (step: HistoryStep, owned: ReadonlySet<string>): ReadonlyArray<Entry> => {
  const { events, name } = step;
  return events.flatMap((event): ReadonlyArray<Entry> => {
    switch (event.kind) {
      case "activity":
        return [...sendEntries(name, event), ...takenEntries(step, event, owned)];
      case "humanTask":
        return [{ at: event.since, who: RUN, step: name, what: "asked" }];
      case "undoFailed":
        return [{ at: event.at, who: RUN, step: name, what: `could not ${event.what}` }];
      case "update":
        return event.isGivenAgain ? [] : [decisionEntry(name, event)];
      default:
        return [];
    }
  });
};

const withReason = (given: string | null | undefined, who?: string | null) => {
  const reason = withoutName(given ?? "", who ?? "");
  return reason === "" ? {} : { detail: { reason } };
};

/** What somebody did to the run from outside, and how it ended. */
const eventEntries = (event: Event): ReadonlyArray<Entry> => {
  const at = timeOf(event);
  const of = (who: string | null | undefined, what: string, reason?: string | null): Entry => ({
    at,
    who: who || "unknown",
    step: WHOLE,
    what,
    ...withReason(reason, who),
  });
  const cancel = event.workflowExecutionCancelRequestedEventAttributes;
  if (cancel) return [of(askedToEndBy(cancel), "asked to end", cancel.cause)];
  const terminated = event.workflowExecutionTerminatedEventAttributes;
  if (terminated) return [of(terminated.identity, "terminated", terminated.reason)];
  const paused = event.workflowExecutionPausedEventAttributes;
  if (paused) return [of(paused.identity, "paused", paused.reason)];
  const unpaused = event.workflowExecutionUnpausedEventAttributes;
  if (unpaused) return [of(unpaused.identity, "resumed", unpaused.reason)];
  const { failure, result } = endingOf(event);
  if (event.workflowExecutionCompletedEventAttributes) {
    // A batch that was cancelled has a result all the same.
    return [of(RUN, hasLeftRows(result) ? "ended, cancelled" : "completed")];
  }
  if (failure === null) return [];
  return [of(RUN, failure.type === "Cancelled" ? "cancelled" : "failed", failure.message)];
};

/** Who had a run retried, and which fields they amended. */
const resetEntry = (event: Event, instruction: AuditedInstruction | undefined): Entry => {
  const reason = givenReason(event.workflowTaskFailedEventAttributes?.failure?.message ?? "");
  if (instruction === undefined) {
    return { at: timeOf(event), who: "unknown", step: WHOLE, what: "reset", ...withReason(reason) };
  }
  const { by, fields, from } = instruction;
  const amended = fields.length === 0 ? {} : { fields: fields.join(", ") };
  const detail = { reason: instruction.reason, ...amended };
  return { at: timeOf(event), who: by, step: from, what: "retried", detail };
};

/**
 * The entries of one run. A run that a reset made has the events of the run before it first: those are left
 * out where that run is read, too.
 *
 * @param instruction by which it was retried, where it was.
 * @param isBeforeRead whether the run that it was reset from is read, too.
 */
export const entriesOfRun = (
  history: History,
  instruction: AuditedInstruction | undefined,
  isBeforeRead: boolean,
): ReadonlyArray<Entry> => {
  const events = history.events ?? [];
  const reset = events.findLast((event) => event.workflowTaskFailedEventAttributes?.baseRunId);
  const { ids, steps } = readRun(history);
  const entries = [
    ...startEntries(events[0]),
    ...steps.flatMap((step) => stepEntries(step, ids)),
    ...events.flatMap(eventEntries),
  ];
  const from = reset === undefined || !isBeforeRead ? "" : timeOf(reset);
  return [
    ...entries.filter(({ at }) => at > from),
    ...(reset === undefined ? [] : [resetEntry(reset, instruction)]),
    ...decisionEntries(
      instruction?.from ?? WHOLE,
      instruction?.decisions ?? [],
      isBeforeRead ? "overruled" : "both",
    ),
  ];
};
