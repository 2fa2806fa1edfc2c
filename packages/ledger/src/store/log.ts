import { createHash } from "node:crypto";
import type { JsonObject, WriteName } from "../model/row.ts";
import type { Decision, DecisionKind, Entry, NewDecision, NewEntry } from "./ledger.ts";
import type { LogLine, Verification } from "./queries.ts";
import type { Seal } from "./seal.ts";
import {
  numberOf,
  numberOrNull,
  query,
  type Query,
  type SqlRow,
  type SqlValue,
  textOf,
  textOrNull,
} from "./sql.ts";

/** What a line has to say, sealed. */
type EntryBody = Pick<Entry, "who" | "what" | "details">;
type DecisionBody = Pick<Decision, "question" | "by" | "how" | "reason" | "value">;

const COLUMNS = "at, account, workflow_id, step, run_id, generation, is_decision, kind, body, hash";

const SELECT = `SELECT sequence, ${COLUMNS} FROM log WHERE workflow_id = $1`;

/** Returns the statement that reads the log of a workflow id. */
export const selectLog = (workflowId: string): Query =>
  query(`${SELECT} ORDER BY sequence`, workflowId);

/** Returns the statement that reads the decisions on a workflow id. */
export const selectDecisions = (workflowId: string): Query =>
  query(`${SELECT} AND is_decision = 1 ORDER BY sequence`, workflowId);

/** Returns the statement that reads the hash of a workflow id's last line, which the next one continues. */
export const selectLastHash = (workflowId: string): Query =>
  query("SELECT hash FROM log WHERE workflow_id = $1 ORDER BY sequence DESC LIMIT 1", workflowId);

/** Reads what `selectLastHash` found. */
export const lastHashOf = ([found]: ReadonlyArray<SqlRow>): string =>
  found === undefined ? "" : textOf(found, "hash");

/** Covers what is written, sealed or not, and everything before it of the same workflow id. */
const hashOf = (previous: string, values: ReadonlyArray<SqlValue>): string =>
  createHash("sha256")
    .update(JSON.stringify([previous, ...values]))
    .digest("base64url");

/** Makes the lines that one transaction adds to the log of a workflow id. */
export class LogWriter {
  readonly writes: Array<Query> = [];
  readonly #workflowId: string;
  readonly #now: number;
  readonly #seal: Seal;
  #hash: string;

  constructor(workflowId: string, lastHash: string, now: number, seal: Seal) {
    this.#workflowId = workflowId;
    this.#hash = lastHash;
    this.#now = now;
    this.#seal = seal;
  }

  entry(entry: NewEntry, name: WriteName, runId: string, generation: number): void {
    const body: EntryBody = { who: entry.who, what: entry.what, details: entry.details };
    this.#add([name.account, this.#workflowId, name.step, runId, generation, 0, entry.kind], body);
  }

  /** @param sequence where it was drawn before. */
  decision(decision: NewDecision, sequence?: number): void {
    const { by, how, question, reason, value } = decision;
    const body: DecisionBody = { question, by, how, reason, value };
    this.#add(
      [decision.account, this.#workflowId, decision.step, null, null, 1, decision.kind],
      body,
      sequence,
    );
  }

  #add(columns: ReadonlyArray<SqlValue>, body: EntryBody | DecisionBody, sequence?: number): void {
    const values = [this.#now, ...columns, this.#seal.seal(JSON.stringify(body))];
    this.#hash = hashOf(this.#hash, values);
    this.writes.push(
      sequence === undefined
        ? query(
            `INSERT INTO log (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
            ...values,
            this.#hash,
          )
        : query(
            `INSERT INTO log (sequence, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
            sequence,
            ...values,
            this.#hash,
          ),
    );
  }
}

/** Reads a decision. */
export const readDecision = (line: SqlRow, seal: Seal): Decision => ({
  // Written by `LogWriter`, of this schema version.
  ...(JSON.parse(seal.open(textOf(line, "body"))) as DecisionBody),
  kind: textOf(line, "kind") as DecisionKind,
  sequence: numberOf(line, "sequence"),
  at: numberOf(line, "at"),
  account: textOf(line, "account"),
  workflowId: textOf(line, "workflow_id"),
  step: textOrNull(line, "step"),
});

/** Reads a line. */
export const readLine = (line: SqlRow, seal: Seal): LogLine =>
  numberOf(line, "is_decision") === 1
    ? { is: "decision", decision: readDecision(line, seal) }
    : {
        is: "entry",
        entry: {
          // Written by `LogWriter`, of this schema version.
          ...(JSON.parse(seal.open(textOf(line, "body"))) as EntryBody),
          kind: textOf(line, "kind") as Entry["kind"],
          sequence: numberOf(line, "sequence"),
          at: numberOf(line, "at"),
          account: textOf(line, "account"),
          workflowId: textOf(line, "workflow_id"),
          step: textOf(line, "step"),
          runId: textOf(line, "run_id"),
          generation: numberOf(line, "generation"),
          hash: textOf(line, "hash"),
        },
      };

/** Returns the end of a workflow id that no later decision overrules. */
export const endAmong = (decisions: ReadonlyArray<Decision>): Decision | undefined => {
  const last = decisions.findLast(({ kind }) => kind === "end" || kind === "overrule");
  return last?.kind === "end" ? last : undefined;
};

/**
 * Checks that every line follows from the one before it.
 *
 * @param isPruned the lines before the first one were removed, so it is taken as it is.
 */
export const verifyLines = (lines: ReadonlyArray<SqlRow>, isPruned: boolean): Verification => {
  let previous = "";
  for (const [index, line] of lines.entries()) {
    const values: ReadonlyArray<SqlValue> = [
      numberOf(line, "at"),
      textOf(line, "account"),
      textOf(line, "workflow_id"),
      textOrNull(line, "step"),
      textOrNull(line, "run_id"),
      numberOrNull(line, "generation"),
      numberOf(line, "is_decision"),
      textOf(line, "kind"),
      textOf(line, "body"),
    ];
    const hash = textOf(line, "hash");
    if (hash !== hashOf(previous, values) && !(isPruned && index === 0)) {
      return { isIntact: false, sequence: numberOf(line, "sequence") };
    }
    previous = hash;
  }
  return { isIntact: true, lines: lines.length };
};

/** Reads a JSON object that the ledger wrote. */
export const readObject = (text: string, seal: Seal): JsonObject =>
  JSON.parse(seal.open(text)) as JsonObject;
