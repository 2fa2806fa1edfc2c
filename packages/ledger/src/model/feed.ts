/**
 * The events of the feed: one typed table from facts to names.
 *
 * An event is the change of a recorded fact, and nothing else. The facts are standings of payments,
 * statuses of runs, states of files, limits, identity checks, and problems for a person. So the last event of each thing
 * says what every list shows of it. Names are chosen here, as an event is read: `feed-schema.ts` has the changes.
 */
import type { Standing } from "./standing.ts";

/** Name of the event by which a payment gets a standing. */
const PAYMENT = {
  /** Under way again: approved, answered or retried. */
  open: "payment.processing",
  approval: "payment.needs_approval",
  asking: "payment.asked",
  unknown: "payment.unknown",
  /** The service has accepted it. */
  made: "payment.sent",
  completed: "payment.completed",
  refused: "payment.failed",
  failed: "payment.failed",
  returned: "payment.returned",
  stopped: "payment.stopped",
  undone: "payment.stopped",
} as const satisfies Readonly<Record<Standing, string>>;

/** Name by which the run of another workflow gets a status; `open` stands for all statuses without an outcome. */
const RUN = {
  open: "processing",
  completed: "completed",
  failed: "failed",
  stopped: "stopped",
  returned: "returned",
} as const;

/** Status of an ended run, as an event names it; all others are `open`. */
export const RUN_STATE = {
  succeeded: "completed",
  failed: "failed",
  timedOut: "failed",
  terminated: "failed",
  ended: "stopped",
  cancelled: "stopped",
  returned: "returned",
} as const;

/** Name by which a question about another write than a payment begins or ends. */
const QUESTION = { asking: "asked", approval: "needs_approval", answered: "answered" } as const;

/** Name by which a file gets a state; the other states have none. */
const BATCH = {
  needsApproval: "batch.needs_approval",
  /** It needs no approval. */
  started: "batch.started",
  approved: "batch.approved",
  rejected: "batch.rejected",
  cancelled: "batch.cancelled",
  finished: "batch.ended",
} as const;

/** Name by which an identity check ends. */
const CHECK = { verified: "onboarding.verified", refused: "onboarding.refused" } as const;

/** Name by which a problem that needs a person begins or ends. */
const PROBLEM = { raised: "attention.raised", cleared: "attention.cleared" } as const;

type Values<A> = A[keyof A];

/** Type of an event. */
export type EventType =
  | "payment.created"
  | Values<typeof PAYMENT>
  /** `onboarding` of the built-in workflow, `run` of your own. */
  | `${"onboarding" | "run"}.${Values<typeof RUN> | Values<typeof QUESTION>}`
  | Values<typeof BATCH>
  | Values<typeof CHECK>
  | Values<typeof PROBLEM>
  | "limits.changed"
  | "limits.needs_approval";

/** States of each subject of an event, with the name of the event that brings it. */
export const SUBJECTS = {
  payment: PAYMENT,
  run: RUN,
  question: QUESTION,
  batch: BATCH,
  check: CHECK,
  attention: PROBLEM,
  limits: { changed: "limits.changed", pending: "limits.needs_approval" },
} as const;

/** The thing that an event is about. */
export type EventSubject = keyof typeof SUBJECTS;

/** Returns the type of an event. `was` is null if there was no state before. */
export const eventType = ({
  kind,
  state,
  subject,
  was,
}: {
  readonly subject: EventSubject;
  readonly state: string;
  readonly was: string | null;
  readonly kind: string | null;
}): EventType => {
  if (subject === "payment" && was === null && state === "open") return "payment.created";
  const names: Readonly<Record<string, string>> = SUBJECTS[subject];
  const family = kind === "onboardCardholder" ? "onboarding" : "run";
  const name = names[state] ?? state;
  // The table has every state that the triggers let through.
  return (name.includes(".") ? name : `${family}.${name}`) as EventType;
};
