import { faultsOf, faultsText, firstFaults } from "@durable-payments/api-core";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";

const Time = Schema.String.check(
  Schema.makeFilter((text: string) => !Number.isNaN(Date.parse(text)), { expected: "a time" }),
);

/** Milliseconds since 1970 that a Date holds. */
const Milliseconds = Schema.Int.check(
  Schema.makeFilter((time: number) => Math.abs(time) <= 8.64e15, { expected: "a time" }),
);

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0));

const Texts = Schema.Array(Schema.String);

const Fields = Schema.Record(Schema.String, Schema.Unknown);

const Step = Schema.Struct({
  name: Schema.String,
  status: Schema.Literals(["running", "waiting", "needsAttention", "done", "failed"]),
  since: Time,
  until: Schema.optionalKey(Time),
  note: Schema.optionalKey(Schema.String),
  waitsUntil: Schema.optionalKey(Time),
});

const Action = Schema.Literals(["found", "resend", "amend", "abandon"]);

const Task = Schema.Struct({
  question: Schema.String,
  step: Schema.String,
  operation: Schema.String,
  reason: Schema.String,
  sent: Fields,
  toSend: Schema.optionalKey(Fields),
  candidates: Schema.Array(Fields),
  listRead: Schema.optionalKey(Schema.Struct({ times: Count, until: Time })),
  inDoubtSince: Schema.optionalKey(Time),
  actions: Schema.Array(Action),
  consequences: Schema.Record(Schema.String, Schema.String),
  idsWanted: Texts,
  since: Time,
});

const Approval = Schema.Struct({
  payment: Fields,
  hash: Schema.String,
  why: Schema.optionalKey(Schema.String),
  startedBy: Schema.optionalKey(Schema.String),
  amendedBy: Schema.optionalKey(Texts),
  amended: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({ field: Schema.String, before: Schema.String, after: Schema.String }),
    ),
  ),
  resentBy: Schema.optionalKey(Texts),
  overruledBy: Schema.optionalKey(Texts),
  rejectedOf: Schema.optionalKey(Texts),
  since: Time,
});

const ProgressAnswer = Schema.Struct({
  workflow: Schema.String,
  stage: Schema.String,
  steps: Schema.Array(Step),
  ids: Schema.Record(Schema.String, Schema.String),
  shown: Schema.StructWithRest(Schema.Struct({ approval: Schema.optionalKey(Approval) }), [Fields]),
  notes: Texts,
  attention: Schema.optionalKey(Task),
});

const AskingAnswer = Schema.Struct({
  stage: Schema.String,
  steps: Schema.Array(Schema.Struct({ name: Schema.String, since: Time })),
  attention: Schema.optionalKey(Schema.Struct({ question: Schema.String, since: Time })),
});

const Command = Schema.Struct({
  by: Schema.String,
  why: Schema.optionalKey(Schema.String),
  since: Time,
});

const BatchProgressAnswer = Schema.Struct({
  rows: Count,
  done: Count,
  started: Count,
  known: Count,
  conflicting: Count,
  rejected: Schema.optionalKey(Count),
  paused: Schema.optionalKey(Command),
  cancelled: Schema.optionalKey(Command),
});

const BatchResult = Schema.Struct({
  rows: Count,
  notStarted: Count,
  started: Count,
  known: Count,
  conflicting: Count,
  rejected: Schema.optionalKey(Count),
});

const DeliveryAnswer = Schema.Struct({
  isDelivered: Schema.Boolean,
  host: Schema.NullOr(Schema.String),
  status: Schema.NullOr(Schema.Number),
  tookMs: Schema.Number,
  why: Schema.optionalKey(Schema.String),
});

const SettlementInput = Schema.Struct({
  step: Schema.String,
  by: Schema.String,
  reason: Schema.String,
  found: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
});

const TrackingDetails = Schema.Struct({
  readAt: Milliseconds,
  waiting: Count,
  failing: Schema.optionalKey(Schema.Struct({ since: Milliseconds, why: Schema.String })),
});

const NotifierDetails = Schema.Struct({
  delivered: Count,
  queue: Schema.Array(Schema.Unknown),
  failing: Schema.optionalKey(Schema.Struct({ since: Milliseconds, why: Schema.String })),
  blind: Schema.optionalKey(Schema.Struct({ since: Milliseconds, why: Schema.String })),
});

/** Most faults that are named. */
const MOST_FAULTS = 3;

const reader = <A>(schema: Schema.Decoder<A>) => {
  const decode = Schema.decodeUnknownResult(schema);
  const isAnswer = Schema.is(schema);
  // As it is, with what a later version has added.
  return (answer: unknown): Result.Result<A, string> =>
    isAnswer(answer)
      ? Result.succeed(answer)
      : Result.mapError(decode(answer), ({ issue }) => {
          const faults = firstFaults(faultsOf(issue)).slice(0, MOST_FAULTS);
          return `The answer is not in the shape that this version knows: ${faultsText(faults)}.`;
        });
};

/**
 * Decode what a query, an update, a result or a heartbeat has answered, or an input keeps: any worker may execute a run, and
 * anybody may start one. What does not decode is a failure that names fields, and not what stands in them.
 */
export const readAnswer = {
  progress: reader(ProgressAnswer),
  /** The part of a progress that says what is asked, and since when. */
  asking: reader(AskingAnswer),
  batchProgress: reader(BatchProgressAnswer),
  batchResult: reader(BatchResult),
  delivery: reader(DeliveryAnswer),
  settlement: reader(SettlementInput),
  tracking: reader(TrackingDetails),
  notifier: reader(NotifierDetails),
} as const;
