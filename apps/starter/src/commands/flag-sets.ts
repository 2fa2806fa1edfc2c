import { type Command, Flag } from "effect/cli";
import {
  by,
  confirmed,
  count,
  duration,
  file,
  id,
  json,
  maybeId,
  on,
  orUndefined,
  person,
  text,
  time,
  yes,
} from "./flags.ts";

/*
 * The flags of commands whose work is in a module of its own: it takes them by their type, and knows nothing of commands.
 */

/** Flags of `answer`. */
export const answering = {
  id: maybeId("Workflow id of the run that needs an answer"),
  choose: Flag.Literals("choose", ["found", "resend", "end"]).pipe(
    Flag.withDescription("found: it was made · resend: send it again · end: send nothing more"),
    orUndefined,
  ),
  question: text("for", "QUESTION", "Id of the question you are answering"),
  found: text("found", "ID", "Id of the result at the service"),
  isAll: on("all", "Give one answer to all questions about an operation"),
  operation: text("operation", "NAME", "With --all: the operation, such as createBeneficiary"),
  ...confirmed,
};

export type AnswerFlags = Command.Command.Config.Infer<typeof answering>;

/** Flags of `approve`. */
export const approving = {
  id,
  hash: text("hash", "HASH", "Hash of what you have read, as show and inbox print it"),
  ...person,
};

export type ApproveFlags = Command.Command.Config.Infer<typeof approving>;

/** Conditions on runs: the same for all lists, and for failed runs that are retried. */
export const conditions = {
  type: text("type", "TYPE", "Workflow type, such as payout"),
  step: text("step", "STEP", "The step that failed, such as createCard"),
  error: text("error", "TEXT", "Type of the failure, or a part of the message"),
  account: text("account", "NAME", 'Only this account, by name; the unnamed one is "default"'),
  batch: text("batch", "ID", "Rows of this batch (file)"),
  repair: text("repair", "ID", "Runs of this repair (retry --all-failed)"),
  payee: text("payee", "WHO", "Payee: name, id, or last four digits of the account"),
  since: time("since", "AGE", "Run started since: 7d, 12h, 2026-11-01"),
  until: time("until", "AGE", "Run started before: 1d, 2026-11-08"),
};

/** Flags of `failed`. */
export const failing = {
  group: maybeId("A group that failed prints: what a retry would do"),
  ...conditions,
  json,
};

export type FailedFlags = Command.Command.Config.Infer<typeof failing>;

/** Flags of `retry`. */
export const retrying = {
  id: maybeId("Workflow id of the run; if it is a child, its root is retried"),
  amend: text(
    "amend",
    "FILE",
    "Fields to change: .json, or .csv or .jsonl with an id for each run",
  ),
  isRestarted: on("restart", "Start your own workflow from the beginning instead of resetting it"),
  from: text("from", "STEP", "Continue your own workflow from this step, not the failed one"),
  isOverruling: on("override", "Override a stop order; then another person must approve"),
  isAll: on("all-failed", "Retry every failed run that matches, as a repair that a worker runs"),
  group: text("group", "GROUP", "With --all-failed: a group that failed prints"),
  ...conditions,
  rate: count("rate", "With --all-failed: runs per second; default 5", 5),
  window: count("window", "With --all-failed: most runs under way at once; default 200", 200),
  approveAbove: text("approve-above", "AMOUNT", "Require approval of a higher sum of amendments"),
  notDuplicate: text("not-a-duplicate", "WHY", "Retry what looks like another payment: reason"),
  isDryRun: on("dry-run", "Show what would be done; change nothing"),
  against: text("against", "DIR", "Preview it with the workflows of another folder; send nothing"),
  ifRun: text("if-run", "RUN", "Refuse if a newer run exists"),
  ...confirmed,
};

export type RetryFlags = Command.Command.Config.Infer<typeof retrying>;

/** Flags of `pay`. */
export const paid = {
  file: file("One payment (.json, or - for standard input), or many (.csv, .jsonl)"),
  id: text("id", "ID", "Workflow id of one payment; default: derived from the input"),
  key: text("key", "KEY", "Business key of one payment, as in a file; its id is payout/KEY"),
  notDuplicate: text("not-a-duplicate", "WHY", "Pay what looks like an earlier payment: reason"),
  isDryRun: on("dry-run", "Check everything, but pay nothing"),
  approveAbove: text("approve-above", "AMOUNT", "Require approval of a file with a higher total"),
  wait: on("wait", "Wait until it has ended or needs a person; report it in the exit code"),
  timeout: duration("timeout", "With --wait: at most this long, such as 30s or 5m"),
  window: count("window", "Most rows under way without an accepted payout; default 200", 200),
  by,
  yes,
  json,
};

export type PayFlags = Command.Command.Config.Infer<typeof paid>;

/** Flags of `onboard`: those of `pay`, in other words. */
export const onboarded = {
  ...paid,
  file: file("One person (.json, or - for standard input), or many (.csv, .jsonl)"),
  id: text("id", "ID", "Workflow id of one onboarding; default: derived from the input"),
  key: text("key", "KEY", "Key of one person, as in a file; its id is onboardCardholder/KEY"),
  notDuplicate: text("not-a-duplicate", "WHY", "Onboard a person who looks known: reason"),
  isDryRun: on("dry-run", "Check everything, but start nothing"),
  approveAbove: text(
    "approve-above",
    "AMOUNT",
    "Require approval of a file with higher card limits",
  ),
  window: count("window", "Most rows under way that wait for nothing yet; default 200", 200),
};

/** Flags of `limits set`. */
export const setting = {
  max: text("max", "AMOUNTS", "Maximum of one payment: EUR=1000.00,USD=500.00, or none"),
  approveAbove: text("approve-above", "AMOUNTS", "Approval above: EUR=100.00, or none"),
  account: text("account", "NAME", "Account, by its name; default: the first one"),
  ...person,
};

export type LimitFlags = Command.Command.Config.Infer<typeof setting>;
