import { hash } from "node:crypto";
import type { WriteName } from "../model/row.ts";
import type { Decision, DecisionKind, Entry, NewDecision, NewEntry } from "./ledger.ts";
import type { LogLine, Verification } from "./queries.ts";
import { type LINE, logTable } from "./schema.ts";
import type { Seal } from "./seal.ts";
import { query, type Query, type SqlRow } from "./sql.ts";
import { number, oneOf, readFields, type RowOf, sealedJson, text, textOrNull } from "./table.ts";

/** What a line has to say, sealed. */
type EntryBody = Pick<Entry, "who" | "what" | "details">;
type DecisionBody = Pick<Decision, "question" | "by" | "how" | "reason" | "value">;

const LOG = logTable("");
const insertLine = LOG.inserter(["sequence"]);
const insertNumbered = LOG.inserter([]);

const SELECT = "SELECT * FROM log WHERE workflow_id = $1";

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
export const lastHashOf = ([found]: ReadonlyArray<SqlRow>): string => String(found?.["hash"] ?? "");

type Line = RowOf<typeof LINE>;

/** Covers what is written, sealed or not, and everything before it of the same workflow id. */
const hashOf = (previous: string, line: Omit<Line, "hash">): string =>
  hash(
    "sha256",
    JSON.stringify([
      previous,
      line.at,
      line.account,
      line.workflowId,
      line.step,
      line.runId,
      line.generation,
      line.isDecision,
      line.kind,
      line.body,
    ]),
    "base64url",
  );

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

  entry({ kind, ...body }: NewEntry, name: WriteName, runId: string, generation: number): void {
    const { account, step } = name;
    this.#add({ account, step, runId, generation, isDecision: 0, kind }, body satisfies EntryBody);
  }

  /** @param sequence where it was drawn before. */
  decision(decision: NewDecision, sequence?: number): void {
    const { account, by, how, kind, question, reason, step, value } = decision;
    const body: DecisionBody = { question, by, how, reason, value };
    this.#add(
      { account, step, runId: null, generation: null, isDecision: 1, kind },
      body,
      sequence,
    );
  }

  #add(
    given: Omit<Line, "at" | "workflowId" | "body" | "hash">,
    said: EntryBody | DecisionBody,
    sequence?: number,
  ): void {
    const body = this.#seal.seal(JSON.stringify(said));
    const line = { ...given, at: this.#now, workflowId: this.#workflowId, body };
    this.#hash = hashOf(this.#hash, line);
    const row = { ...line, hash: this.#hash };
    this.writes.push(
      sequence === undefined
        ? insertLine(row, this.#seal)
        : insertNumbered({ ...row, sequence }, this.#seal),
    );
  }
}

/** Reads a decision. */
export const readDecision = (found: SqlRow, seal: Seal): Decision => ({
  ...readFields(DECISION, found, seal),
  ...BODY.read(found["body"] ?? null, seal),
});

const BODY = sealedJson<DecisionBody>();
const NUMBERED = { sequence: number, at: number, account: text, workflowId: text };
const DECISION = { ...NUMBERED, step: textOrNull, kind: oneOf<DecisionKind>() };
const ENTRY = {
  ...NUMBERED,
  step: text,
  runId: text,
  generation: number,
  kind: oneOf<Entry["kind"]>(),
  hash: text,
};
const ENTRY_BODY = sealedJson<EntryBody>();

/** Reads a line. */
export const readLine = (found: SqlRow, seal: Seal): LogLine =>
  found["is_decision"] === 1
    ? { is: "decision", decision: readDecision(found, seal) }
    : {
        is: "entry",
        entry: {
          ...readFields(ENTRY, found, seal),
          ...ENTRY_BODY.read(found["body"] ?? null, seal),
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
export const verifyLines = (
  lines: ReadonlyArray<SqlRow>,
  isPruned: boolean,
  seal: Seal,
): Verification => {
  let previous = "";
  for (const [index, found] of lines.entries()) {
    const line = LOG.read(found, seal);
    if (line.hash !== hashOf(previous, line) && !(isPruned && index === 0)) {
      return { isIntact: false, sequence: line.sequence };
    }
    previous = line.hash;
  }
  return { isIntact: true, lines: lines.length };
};
