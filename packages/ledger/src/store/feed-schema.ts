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
import * as column from "./column.ts";
import { columnOf, listed, type RowOf, Table } from "./table.ts";

/** Further data of a problem. */
export interface ProblemDetails {
  readonly count: number;
  /** Decimal strings by currency. */
  readonly sums: Readonly<Record<string, string>>;
}

const FACTS = {
  /** The workflow id, the file, or the log of the limits. */
  workflowId: column.text,
  step: column.textOrNull,
  runId: column.textOrNull,
  /** The workflow type, or the kind of a problem. */
  kind: column.textOrNull,
  batch: column.textOrNull,
  amount: column.textOrNull,
  currency: column.textOrNull,
  reference: column.textOrNull,
  /** Id of the payout or cardholder at the service. */
  madeId: column.textOrNull,
  /** The service's word for the status. */
  word: column.textOrNull,
  reason: column.orNull(column.sealed(column.text)),
  details: column.orNull(column.sealed(column.json<ProblemDetails>())),
};

/** An event as it is stored. */
const EVENT = {
  /** Order of the inserts: concurrent transactions commit in another one. */
  sequence: column.number,
  account: column.text,
  /** Place in the feed of the account, from 1, without gaps; null until a reader numbers it. */
  number: column.numberOrNull,
  /** The ledger's, when it was numbered. */
  epoch: column.numberOrNull,
  /** Milliseconds since 1970 by the ledger's clock. */
  at: column.number,
  subject: column.oneOf<EventSubject>(),
  state: column.text,
  was: column.textOrNull,
  ...FACTS,
};
export type StoredEvent = RowOf<typeof EVENT>;

export const eventsTable = (sequence: string) =>
  new Table("events", { ...EVENT, sequence: { ...column.number, type: sequence } }, []);

/** Problems that need a person, as they were last noted: see `attention.ts`. */
export const PROBLEMS = new Table(
  "problems",
  {
    account: column.text,
    kind: column.text,
    of: column.text,
    workflowId: column.text,
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
    endpoint: column.text,
    account: column.text,
    /** Number of the last delivered event. */
    number: column.number,
    /** Numbers that a person has delivered again: after the first, up to the last. */
    againAfter: column.numberOrNull,
    againTo: column.numberOrNull,
  },
  ["endpoint", "account"],
);

type Given = Partial<Record<keyof typeof FACTS | "account" | "state" | "was", string>>;

/** A fact whose change is an event. */
interface Fact {
  readonly on: string;
  /** The column that has it. */
  readonly column: string;
  readonly subject: EventSubject;
  /** Expression of its state by the name of the row. */
  readonly state: (row: "NEW" | "OLD") => string;
  /** Condition over the new row alone. */
  readonly when: string;
  /** Its state before there is a row; a new row in this state makes none. */
  readonly before?: string;
  /** The state with which each begins, by an event of its own. */
  readonly first?: string;
  /** Condition over other tables. */
  readonly where?: string;
  readonly to: Given;
}

const columnIs = (column: string) => (row: string) => `${row}.${column}`;
const PAYOUT = "createPayout";
const IS_PAYOUT = `NEW.operation = '${PAYOUT}'`;

const runOf = (column: string, id: string): string =>
  `(SELECT ${column} FROM runs WHERE workflow_id = NEW.${id})`;

const MONEY = { amount: "NEW.amount", currency: "NEW.currency", reference: "NEW.reference" };

const OF_WRITE: Given = {
  ...MONEY,
  workflowId: "NEW.workflow_id",
  step: "NEW.step",
  runId: "NEW.run_id",
  kind: runOf("type", "owner_id"),
  batch: runOf("batch", "workflow_id"),
  madeId: "NEW.made_id",
  word: "NEW.word",
  reason: `CASE WHEN nth = 0 THEN NULL WHEN NEW.standing = 'stopped' THEN coalesce(NEW.reason, ${runOf("end_reason", "owner_id")}) ELSE NEW.reason END`,
};

const OF_RUN: Given = {
  ...MONEY,
  account: "coalesce(NEW.account, '')",
  workflowId: "NEW.workflow_id",
  runId: "NEW.run_id",
  kind: "NEW.type",
  batch: "NEW.batch",
  reason: "CASE WHEN nth = 1 THEN NEW.end_reason END",
};

/**
 * The state of the payment that a payout run plans. Another write may take its place for a while: then it is open. Null until
 * its amount is known: a worker may record a write of another step before the start is recorded.
 */
const plannedIn = (row: string): string =>
  `CASE WHEN ${row}amount IS NOT NULL THEN coalesce(${row}planned, 'open') END`;

/** Returns the states that a table names, and another one for the rest. */
const statesOf = (names: Readonly<Record<string, string>>, column: string, other: string) => {
  const cases = Object.entries(names).map(([name, state]) => `WHEN '${name}' THEN '${state}'`);
  return (row: string) => `CASE ${row}.${column} ${cases.join(" ")} ELSE '${other}' END`;
};

const FACTS_OF_EVENTS: ReadonlyArray<Fact> = [
  {
    on: "writes",
    column: "standing",
    subject: "payment",
    state: columnIs("standing"),
    when: IS_PAYOUT,
    // As soon as a planned payment has a write, the write has its state.
    before: `(SELECT ${plannedIn("")} FROM runs WHERE workflow_id = NEW.workflow_id AND account = NEW.account
      AND type = 'payout' AND NEW.step = '${PAYOUT}')`,
    first: "'open'",
    to: OF_WRITE,
  },
  {
    on: "runs",
    column: "planned, amount",
    subject: "payment",
    state: (row) => plannedIn(`${row}.`),
    when: "NEW.type = 'payout' AND NEW.amount IS NOT NULL",
    first: "'open'",
    where: `NOT EXISTS (SELECT 1 FROM writes WHERE writes.workflow_id = NEW.workflow_id AND step = '${PAYOUT}')`,
    to: { ...OF_RUN, step: `'${PAYOUT}'` },
  },
  {
    on: "writes",
    column: "standing",
    subject: "question",
    state: statesOf({ asking: "asking", approval: "approval" }, "standing", "answered"),
    when: `NOT ${IS_PAYOUT}`,
    before: "'answered'",
    to: OF_WRITE,
  },
  {
    on: "runs",
    column: "status",
    subject: "run",
    state: statesOf(RUN_STATE, "status", "open"),
    when: "NEW.type <> 'payout'",
    before: "'open'",
    to: OF_RUN,
  },
  {
    on: "batches",
    column: "state",
    subject: "batch",
    // A file that needs no approval is never approved: it starts.
    state: (row) =>
      `CASE WHEN ${row}.state = 'approved' AND ${row}.approved_by IS NULL THEN 'started' ELSE ${row}.state END`,
    when: `NEW.state IN ${listed(Object.keys(SUBJECTS.batch))}`,
    to: { workflowId: "NEW.id", kind: "NEW.type", batch: "NEW.id" },
  },
  {
    on: "waits",
    column: "ended_as",
    subject: "check",
    state: columnIs("ended_as"),
    when: `NEW.kind = 'cardholder' AND NEW.ended_as IN ${listed(Object.keys(SUBJECTS.check))}`,
    // A later run of the id waits again, and finds the same.
    where: `coalesce((SELECT ended_as FROM waits WHERE waits.workflow_id = NEW.workflow_id AND waits.thing = NEW.thing
      AND waits.run_id <> NEW.run_id AND closed_at IS NOT NULL ORDER BY closed_at DESC LIMIT 1), '') <> NEW.ended_as`,
    to: { workflowId: "NEW.workflow_id", runId: "NEW.run_id", madeId: "NEW.thing" },
  },
];

const ofProblem = (row: string, state: string): Given => ({
  account: `${row}.account`,
  workflowId: `${row}.workflow_id`,
  kind: `${row}.kind`,
  word: `CASE ${row}.kind WHEN 'word' THEN ${row}.of END`,
  reason: `${row}.reason`,
  details: `${row}.details`,
  state: `'${state}'`,
});

/** Triggers: when, on what, and the columns of the event. */
type Trigger = readonly [
  after: string,
  when: string,
  subject: EventSubject,
  to: Given,
  where?: string | undefined,
];

const TRIGGERS: ReadonlyArray<Trigger> = [
  ...FACTS_OF_EVENTS.flatMap(
    ({
      before = "NULL",
      column,
      first = "NULL",
      on,
      state,
      subject,
      to,
      when,
      where = "1 = 1",
    }) => {
      const [is, was] = [state("NEW"), state("OLD")];
      // The event of the first state comes before that of the change, and is the only one if nothing else has changed.
      const since = (earlier: string) => {
        const begun = `coalesce(${earlier}, ${first})`;
        const [isState, isWas] = [
          `CASE nth WHEN 0 THEN ${first} ELSE ${is} END`,
          `CASE nth WHEN 1 THEN ${begun} END`,
        ];
        const isNews = `CASE nth WHEN 0 THEN ${earlier} IS NULL AND ${first} IS NOT NULL ELSE ${begun} IS DISTINCT FROM ${is} END`;
        return [{ ...to, state: isState, was: isWas }, `${where} AND ${isNews}`] as const;
      };
      const change = `${when} AND ${was} IS DISTINCT FROM ${is}`;
      return [
        [`INSERT ON ${on}`, when, subject, ...since(before)],
        [`UPDATE OF ${column} ON ${on}`, change, subject, ...since(was)],
      ] satisfies ReadonlyArray<Trigger>;
    },
  ),
  [
    "INSERT ON log",
    "NEW.kind IN ('limits', 'approve') AND NEW.workflow_id = 'limits/' || NEW.account",
    "limits",
    // The limits themselves are read with the event: texts are sealed.
    { workflowId: "NEW.workflow_id", state: "'changed'", was: "CAST(NEW.sequence AS TEXT)" },
  ],
  ["INSERT ON problems", "1 = 1", "attention", ofProblem("NEW", "raised")],
  ["DELETE ON problems", "1 = 1", "attention", { ...ofProblem("OLD", "cleared"), was: "'raised'" }],
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
  ...TRIGGERS.map(([after, when, subject, to, where], at) => {
    const given = Object.entries({ account: "NEW.account", ...to });
    const names = given.map(([field]) => columnOf(field));
    const values = given.map(([, expression]) => expression);
    const insert = `INSERT INTO events (at, subject, ${names.join(", ")})
      SELECT ${now}, '${subject}', ${values.join(", ")} FROM (SELECT 0 AS nth UNION ALL SELECT 1) AS events_of
      WHERE ${where ?? "nth = 1"} ORDER BY nth`;
    return trigger(`event_${at + 1}`, `AFTER ${after} FOR EACH ROW WHEN (${when})`, insert);
  }),
];
