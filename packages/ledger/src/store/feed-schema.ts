/**
 * The feed of events, as tables and triggers.
 *
 * A fact changes in many statements: a send, a reading, a decision about a word, the end of a run, each of which may
 * change a thousand rows. An event that each caller wrote would be forgotten by the next caller. So the database itself
 * writes it, by one trigger for each fact: in the same transaction, whatever statement changes the column, and only if the
 * value differs. A trigger copies sealed texts as they are.
 *
 * An event has no number when it is written: `feed-methods.ts` says who gives it, and why not the writer.
 */
import { type EventSubject, RUN_STATE, SUBJECTS } from "../model/feed.ts";
import {
  json,
  number,
  numberOrNull,
  oneOf,
  orNull,
  type RowOf,
  sealed,
  Table,
  text,
  textOrNull,
} from "./table.ts";

/** Further data of a problem. */
export interface ProblemDetails {
  readonly count: number;
  /** Decimal strings by currency. */
  readonly sums: Readonly<Record<string, string>>;
}

const FACTS = {
  /** The workflow id, the file, or the log of the limits. */
  workflowId: text,
  step: textOrNull,
  runId: textOrNull,
  /** The workflow type, or the kind of a problem. */
  kind: textOrNull,
  batch: textOrNull,
  amount: textOrNull,
  currency: textOrNull,
  reference: textOrNull,
  /** Id of the payout or cardholder at the service. */
  madeId: textOrNull,
  /** The service's word for the status. */
  word: textOrNull,
  reason: orNull(sealed(text)),
  details: orNull(sealed(json<ProblemDetails>())),
};

/** An event as it is stored. */
export const EVENT = {
  /** Order of the inserts: concurrent transactions commit in another one. */
  sequence: number,
  account: text,
  /** Place in the feed of the account, from 1, without gaps; null until a reader numbers it. */
  number: numberOrNull,
  /** Of the ledger, when it was numbered. */
  epoch: numberOrNull,
  /** Milliseconds since 1970 by the ledger's clock. */
  at: number,
  subject: oneOf<EventSubject>(),
  state: text,
  was: textOrNull,
  ...FACTS,
};
export type StoredEvent = RowOf<typeof EVENT>;

export const eventsTable = (sequence: string) =>
  new Table("events", { ...EVENT, sequence: { ...number, type: sequence } }, []);

/** Problems that need a person, as they were last noted: see `attention.ts`. */
export const PROBLEMS = new Table(
  "problems",
  {
    account: text,
    kind: text,
    of: text,
    workflowId: text,
    reason: FACTS.reason,
    details: FACTS.details,
  },
  ["account", "kind", "of"],
);

/** How far the feed of an account was delivered to an endpoint. */
export const DELIVERIES = new Table(
  "deliveries",
  {
    /** Hash of the address. */
    endpoint: text,
    account: text,
    /** Number of the last delivered event. */
    number,
    /** Numbers that a person has delivered again: after the first, up to the last. */
    againAfter: numberOrNull,
    againTo: numberOrNull,
  },
  ["endpoint", "account"],
);
export type FeedDelivery = RowOf<typeof DELIVERIES.fields>;

type Given = Partial<Record<keyof typeof FACTS | "account" | "state" | "was", string>>;

interface Trigger {
  readonly on: string;
  /** `INSERT`, `DELETE`, or `UPDATE OF` a column. */
  readonly after: string;
  /** Over the row alone. */
  readonly when: string;
  readonly subject: EventSubject;
  /** Expressions of the columns. */
  readonly to: Given;
  /** Over other tables as well. */
  readonly where?: string;
}

const PAYOUT = "createPayout";
const IS_PAYOUT = `NEW.operation = '${PAYOUT}'`;
const ASKS = (row: string) => `${row}.standing IN ('asking', 'approval')`;

const runOf = (column: string, id: string): string =>
  `(SELECT ${column} FROM runs WHERE workflow_id = NEW.${id})`;

const OF_WRITE: Given = {
  workflowId: "NEW.workflow_id",
  step: "NEW.step",
  runId: "NEW.run_id",
  kind: runOf("type", "owner_id"),
  batch: runOf("batch", "workflow_id"),
  amount: "NEW.amount",
  currency: "NEW.currency",
  reference: "NEW.reference",
  madeId: "NEW.made_id",
  word: "NEW.word",
  reason: `CASE WHEN NEW.standing = 'stopped' THEN coalesce(NEW.reason, ${runOf("end_reason", "owner_id")}) ELSE NEW.reason END`,
};

/** The state of the payment that a payout run plans. Another write may take its place for a while: then it is open. */
const plannedIn = (row: string): string => `coalesce(${row}planned, 'open')`;

/** As soon as that payment has a write, the write has its state. */
const PLANNED = `(SELECT ${plannedIn("")} FROM runs WHERE workflow_id = NEW.workflow_id AND account = NEW.account
  AND type = 'payout' AND NEW.step = '${PAYOUT}')`;
const HAS_NO_WRITE = `NOT EXISTS (SELECT 1 FROM writes WHERE writes.workflow_id = NEW.workflow_id AND step = '${PAYOUT}')`;

const QUESTION =
  "CASE WHEN NEW.standing IN ('asking', 'approval') THEN NEW.standing ELSE 'answered' END";

const OF_RUN: Given = {
  workflowId: "NEW.workflow_id",
  runId: "NEW.run_id",
  kind: "NEW.type",
  batch: "NEW.batch",
  amount: "NEW.amount",
  currency: "NEW.currency",
  reference: "NEW.reference",
  reason: "NEW.end_reason",
};
const OF_PLANNED: Given = {
  ...OF_RUN,
  account: "coalesce(NEW.account, '')",
  step: `'${PAYOUT}'`,
  state: plannedIn("NEW."),
};

const stateOfRun = (row: string): string =>
  `CASE ${row}.status ${Object.entries(RUN_STATE)
    .map(([status, state]) => `WHEN '${status}' THEN '${state}'`)
    .join(" ")} ELSE 'open' END`;
const OF_ENDED: Given = {
  ...OF_RUN,
  account: "coalesce(NEW.account, '')",
  state: stateOfRun("NEW"),
};

const IS_STATE = `NEW.state IN (${Object.keys(SUBJECTS.batch)
  .map((state) => `'${state}'`)
  .join(", ")})`;
const OF_BATCH: Given = {
  workflowId: "NEW.id",
  kind: "NEW.type",
  batch: "NEW.id",
  state: "NEW.state",
};

const IS_CHECK = "NEW.kind = 'cardholder' AND NEW.ended_as IN ('verified', 'refused')";
const OF_CHECK: Given = {
  workflowId: "NEW.workflow_id",
  runId: "NEW.run_id",
  madeId: "NEW.thing",
  state: "NEW.ended_as",
};
/** A later run of the id waits again, and finds the same. */
const IS_OTHER_CHECK = `coalesce((SELECT ended_as FROM waits WHERE waits.workflow_id = NEW.workflow_id AND waits.thing = NEW.thing
  AND waits.run_id <> NEW.run_id AND closed_at IS NOT NULL ORDER BY closed_at DESC LIMIT 1), '') <> NEW.ended_as`;

const ofProblem = (row: string, state: string): Given => ({
  account: `${row}.account`,
  workflowId: `${row}.workflow_id`,
  kind: `${row}.kind`,
  word: `CASE ${row}.kind WHEN 'word' THEN ${row}.of END`,
  reason: `${row}.reason`,
  details: `${row}.details`,
  state: `'${state}'`,
});

const TRIGGERS: ReadonlyArray<Trigger> = [
  {
    on: "writes",
    after: "INSERT",
    when: IS_PAYOUT,
    subject: "payment",
    to: { ...OF_WRITE, state: "NEW.standing", was: PLANNED },
    where: `coalesce(${PLANNED}, '') <> NEW.standing`,
  },
  {
    on: "writes",
    after: "UPDATE OF standing",
    when: `${IS_PAYOUT} AND OLD.standing <> NEW.standing`,
    subject: "payment",
    to: { ...OF_WRITE, state: "NEW.standing", was: "OLD.standing" },
  },
  {
    on: "writes",
    after: "INSERT",
    when: `NOT ${IS_PAYOUT} AND ${ASKS("NEW")}`,
    subject: "question",
    to: { ...OF_WRITE, state: QUESTION },
  },
  {
    on: "writes",
    after: "UPDATE OF standing",
    when: `NOT ${IS_PAYOUT} AND OLD.standing <> NEW.standing AND (${ASKS("OLD")} OR ${ASKS("NEW")})`,
    subject: "question",
    to: { ...OF_WRITE, state: QUESTION, was: "OLD.standing" },
  },
  {
    on: "runs",
    after: "INSERT",
    when: "NEW.type = 'payout'",
    subject: "payment",
    to: OF_PLANNED,
    where: HAS_NO_WRITE,
  },
  {
    on: "runs",
    after: "UPDATE OF planned",
    when: `NEW.type = 'payout' AND ${plannedIn("OLD.")} <> ${plannedIn("NEW.")}`,
    subject: "payment",
    to: { ...OF_PLANNED, was: plannedIn("OLD.") },
    where: HAS_NO_WRITE,
  },
  {
    on: "runs",
    after: "INSERT",
    when: `NEW.type <> 'payout' AND ${stateOfRun("NEW")} <> 'open'`,
    subject: "run",
    to: OF_ENDED,
  },
  {
    on: "runs",
    after: "UPDATE OF status",
    when: `NEW.type <> 'payout' AND ${stateOfRun("OLD")} <> ${stateOfRun("NEW")}`,
    subject: "run",
    to: { ...OF_ENDED, was: stateOfRun("OLD") },
  },
  { on: "batches", after: "INSERT", when: IS_STATE, subject: "batch", to: OF_BATCH },
  {
    on: "batches",
    after: "UPDATE OF state",
    when: `${IS_STATE} AND OLD.state <> NEW.state`,
    subject: "batch",
    to: { ...OF_BATCH, was: "OLD.state" },
  },
  {
    on: "waits",
    after: "INSERT",
    when: IS_CHECK,
    subject: "check",
    to: OF_CHECK,
    where: IS_OTHER_CHECK,
  },
  {
    on: "waits",
    after: "UPDATE OF ended_as",
    when: `${IS_CHECK} AND OLD.ended_as IS DISTINCT FROM NEW.ended_as`,
    subject: "check",
    to: OF_CHECK,
    where: IS_OTHER_CHECK,
  },
  {
    on: "log",
    after: "INSERT",
    // Which limits follow is read with the event: texts are sealed.
    when: "NEW.kind IN ('limits', 'approve') AND NEW.workflow_id = 'limits/' || NEW.account",
    subject: "limits",
    to: { workflowId: "NEW.workflow_id", state: "'changed'", was: "CAST(NEW.sequence AS TEXT)" },
  },
  {
    on: "problems",
    after: "INSERT",
    when: "1 = 1",
    subject: "attention",
    to: ofProblem("NEW", "raised"),
  },
  {
    on: "problems",
    after: "DELETE",
    when: "1 = 1",
    subject: "attention",
    to: { ...ofProblem("OLD", "cleared"), was: "'raised'" },
  },
];

/** How a database writes a trigger. */
export interface TriggerDialect {
  readonly now: string;
  readonly trigger: (name: string, head: string, insert: string) => string;
}

/** The statements that make the tables, indexes and triggers of the feed. */
export const feedSchema = (
  sequence: string,
  { now, trigger }: TriggerDialect,
): ReadonlyArray<string> => [
  eventsTable(sequence).schema,
  PROBLEMS.schema,
  DELIVERIES.schema,
  // Without a number: those that a reader has to number.
  "CREATE UNIQUE INDEX events_feed ON events (account, number)",
  ...TRIGGERS.map(({ after, on, subject, to, when, where }, at) => {
    const given = Object.entries({ account: "NEW.account", ...to });
    const names = given.map(([field]) =>
      field.replaceAll(/[A-Z]/g, (one) => `_${one.toLowerCase()}`),
    );
    const values = given.map(([, expression]) => expression);
    const insert = `INSERT INTO events (at, subject, ${names.join(", ")})
      SELECT ${now}, '${subject}', ${values.join(", ")}${where === undefined ? "" : ` WHERE ${where}`}`;
    return trigger(
      `event_${at + 1}`,
      `AFTER ${after} ON ${on} FOR EACH ROW WHEN (${when})`,
      insert,
    );
  }),
];
