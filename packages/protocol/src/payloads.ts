/**
 * The inputs of activities, each declared once: as the schema for the worker's parser, and as the type for the sender.
 *
 * An input is a payload in a history: a workflow of any build, in any language, may have written it, and the types of
 * TypeScript end there. Workflows import the types alone, so that their bundle has no schema. Frozen within a major
 * version, because histories contain them.
 */
import { faultsText } from "@durable-payments/client/effect";
import { isRecord } from "@durable-payments/client/values";
import * as Schema from "effect/Schema";
import {
  inputFaults,
  isAmount,
  isKey,
  KEY_RULE,
  type OnboardCardholderInput,
  type PayoutInput,
} from "./inputs.ts";

const Text = Schema.NonEmptyString;
const Json = Schema.Record(Schema.String, Schema.Unknown);
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0));
const Amount = Schema.String.check(Schema.makeFilter(isAmount, { expected: "an amount" }));
const Key = Schema.String.check(Schema.makeFilter(isKey, { expected: KEY_RULE }));
const optional = Schema.optionalKey;

/** A request of a later step, checked together with the first. */
const plannedRequest = Schema.Struct({ operation: Text, request: Json });

/** Options of a step, in addition to its request. */
export const writeOptions = Schema.Struct({
  /** A lost `createBeneficiary`: sent again, or a person is asked. Default `resend`. */
  whenLost: optional(Schema.Literals(["resend", "ask"])),
  /** False: always creates a new beneficiary. */
  reuse: optional(Schema.Literal(false)),
  /** Amounts above this need a second person's approval: a decimal string in the payment's currency. */
  approveAbove: optional(Amount),
});

/**
 * The outcome of an earlier step or wait, as a run believes it. Anyone with access to Temporal can complete or fail an
 * activity by hand, so the activity of a later write compares it with the ledger.
 */
export const believed = Schema.Struct({
  /** Name of the account that it was called for; absent for the unnamed one. */
  account: optional(Text),
  /** Id of the activity of a wait. */
  wait: optional(Text),
  /** Name, operation and key of a step. */
  step: optional(Text),
  operation: optional(Text),
  key: optional(Key),
  /** Ids in the result of a step. */
  ids: optional(Schema.Array(Schema.String)),
  /** Outcome of a wait, or the type of a failure. */
  outcome: optional(Schema.String),
});

/** Input of the activity of every call of a step. */
const stepCall = Schema.Struct({
  /** Name of the step, unique in its run. */
  step: Text,
  /** Business key of the write, if it has one: then its row is named by `keyedName`, for every workflow. */
  key: optional(Key),
  /** The root workflow id, as the run knows it: its stops and pauses count as well. It permits nothing. */
  rootId: Text,
  /** The run that scheduled the activity: if the activity works in another run, it reconciles first. */
  runId: Text,
  /** Whether the run was continued, or has a cron schedule: then every write needs a separate name. */
  isContinued: Schema.Boolean,
  /** 1 for the first call of the step in this run. */
  call: Count,
  /** The run is the first of its id, as its voucher says. */
  isFirst: Schema.Boolean,
  /** Version of the row that the last result, or the earlier failed run, named. */
  version: optional(Count),
  /** Steps that this run has called with the same operation: none of them is a renamed step. */
  otherSteps: optional(Schema.Array(Text)),
  /** Outcomes of earlier steps and waits: nothing is sent before the ledger agrees. */
  believed: optional(Schema.Array(believed)),
});

/** Input of the activity of a write, and of operations of your own. */
export const writeCall = Schema.Struct({
  ...stepCall.fields,
  ...writeOptions.fields,
  /** Whether the user named it: then a changed request is an amendment. */
  isNamed: Schema.Boolean,
  request: Json,
  /** Checked with the request before anything is sent; fields that earlier steps fill in may be missing. */
  planned: optional(Schema.Array(plannedRequest)),
  /** `close`: its run is being cancelled, and nothing new is sent. */
  mode: optional(Schema.Literal("close")),
});

/** Input of `undo`: the step to undo. Its answer is `done` even if nothing was made. */
export const undoCall = Schema.Struct({
  ...stepCall.fields,
  /** Operation of the step; `undo` if this run has not called it. */
  operation: Text,
  /** The result of the step in this run: a restored ledger may not know it. */
  made: optional(Json),
});

/** `look`: the service is read once, and `open` is a valid answer: the last look after the end of a wait. */
const mode = optional(Schema.Literal("look"));

/** Input of `awaitPayout` and `awaitReturn`. */
export const payoutWait = Schema.Struct({ mode, payout_id: Text });

/** Input of `awaitVerification`. */
export const cardholderWait = Schema.Struct({ mode, card_holder_id: Text });

/** Input of `awaitFunds`: the amount is a decimal string in units of `currency`. */
export const fundsWait = Schema.Struct({ mode, currency: Text, amount: Amount });

const RowInput = Schema.declare((input): input is PayoutInput | OnboardCardholderInput =>
  isRecord(input),
).check(
  Schema.makeFilter((input) => {
    const workflow = "card" in input ? "onboardCardholder" : "payout";
    return faultsText(inputFaults(workflow, input)) || undefined;
  }),
);

/** A row of a file with its input: encrypted as all that crosses Temporal. The ledger has no account number. */
export const fileRow = Schema.Struct({
  /** Line of the file, from 1. */
  number: Count,
  workflowId: Text,
  input: RowInput,
});

/** A failed run that a repair retries, with its amended input, if it has one. */
export const repairRow = Schema.Struct({
  number: Count,
  workflowId: Text,
  /** The failed run. */
  run: Text,
  input: optional(Json),
});

/** Input of `runBatch`: as many rows of a file or of a repair as one payload may have. */
export const batchChunk = Schema.Struct({
  /** Id of the batch in the ledger. */
  batch: Text,
  /** The person who uploaded it, and cannot approve it. */
  startedBy: Text,
  /** Most runs of these rows that have not sent yet. */
  window: Count,
  /** Most runs of these rows that a repair begins in a second. */
  rate: optional(Schema.Finite),
  // A row of a repair first: as one of a file it would lose its failed run.
  rows: Schema.Array(Schema.Union([repairRow, fileRow])),
});

/** The reason of a failure, and since when: milliseconds since 1970. */
const failing = Schema.Struct({ why: Schema.String, since: Schema.Finite });

/** State of the tracker, reported with each heartbeat and passed to its next run. Times are milliseconds since 1970. */
const tracked = Schema.Struct({
  /** The account that it works for, as a hash. */
  account: Text,
  /** The highest sequence of the ledger that was seen, kept outside of it: one with a lower sequence was restored. */
  mark: optional(
    Schema.Struct({ ledgerId: Schema.String, epoch: Schema.Finite, sequence: Schema.Finite }),
  ),
  /** The latest completion time of a payout that the service has shown, by its clock. */
  settledUntil: optional(Schema.Finite),
  /** When everything due was last read. */
  readAt: Schema.Finite,
  /** Payouts, cardholders and balances that are read again at some time. */
  waiting: Schema.Finite,
  /** Requests per second at which the worker sends at most, if it knows a limit. */
  rate: optional(Schema.Finite),
  /** Where its worker receives hints of the service; left out if it does not. */
  hints: optional(Text),
  /** Why the tracker cannot work. */
  failing: optional(failing),
});

/** Checks whether details of a heartbeat are the tracker's. */
export const isTracked = Schema.is(tracked);

/** Input of the tracker. */
export const trackerInput = Schema.Struct({
  /** The account that it works for, as a hash: a worker with another one does none of its work. */
  account: Text,
  /** Name of the account, which has its queue; left out for the unnamed account. */
  name: Schema.optional(Text),
  /** State of the previous run. */
  known: optional(tracked),
});

/** State of the notifier, passed from run to run. The ledger has what was delivered. */
const notifierState = Schema.Struct({
  /** Why events cannot be read or delivered. */
  failing: optional(failing),
});

/** Checks whether details of a heartbeat are the notifier's. */
export const isNotifierState = Schema.is(notifierState);

/** Input of the notifier. */
export const notifierInput = Schema.UndefinedOr(notifierState);

export interface WriteOptions extends Schema.Schema.Type<typeof writeOptions> {}
export interface Believed extends Schema.Schema.Type<typeof believed> {}
export interface WriteCall extends Schema.Schema.Type<typeof writeCall> {}
export interface UndoCall extends Schema.Schema.Type<typeof undoCall> {}
export interface PayoutWait extends Schema.Schema.Type<typeof payoutWait> {}
export interface CardholderWait extends Schema.Schema.Type<typeof cardholderWait> {}
export interface FundsWait extends Schema.Schema.Type<typeof fundsWait> {}
export interface FileRow extends Schema.Schema.Type<typeof fileRow> {}
export interface RepairRow extends Schema.Schema.Type<typeof repairRow> {}
export interface BatchChunk extends Schema.Schema.Type<typeof batchChunk> {}
export interface Tracked extends Schema.Schema.Type<typeof tracked> {}
export interface NotifierState extends Schema.Schema.Type<typeof notifierState> {}
export interface TrackerInput extends Schema.Schema.Type<typeof trackerInput> {}
