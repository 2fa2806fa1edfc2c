import { hash } from "node:crypto";
import type { JsonObject, WriteName } from "../model/row.ts";
import { LINE, logTable } from "./schema.ts";
import * as column from "./column.ts";
import {
  query,
  type Query,
  readFields,
  type RowOf,
  type Seal,
  type SqlRow,
  toJson,
} from "./table.ts";

/** A decision of a person. */
export type DecisionKind =
  /** A workflow id is started; `value` is its {@link StartFacts}. */
  | "start"
  /** Exactly one send of one request: `value` is `{ generation, terms, account }`; for limits, `{ sequence }`. */
  | "approve"
  /** A file is rejected. */
  | "reject"
  /** The write succeeded: `value.id` is its result. */
  | "found"
  /** Send it again. */
  | "resend"
  /** Nothing more is sent under this workflow id. */
  | "end"
  /** An end is overridden. */
  | "overrule"
  /** The run may be started again with another request. */
  | "amend"
  | "pause"
  | "resume"
  | "cancel"
  | "retry"
  | "recover"
  /** Limits of an account; `value` is {@link Limits}. */
  | "limits"
  /** A word of the service for the status of a payout: `value` is `{ word, means }`. */
  | "word"
  | "prune";

/** The value of a start. */
export type StartFacts = {
  /** Type of the workflow. */
  readonly type: string;
  /** Hash of the input without its options. */
  readonly content: string;
  /** The first run that Temporal has started for it: an approval needs a start of the run that asks for it. */
  readonly firstRunId?: string;
  /** The option, in the payment's currency. */
  readonly approveAbove?: string;
  /** The reason why a likely duplicate is paid. */
  readonly notDuplicate?: string;
  /** The file, if a row of it is started. */
  readonly file?: { readonly batch: string; readonly row: number; readonly name: string };
  /** `WriteRequest.terms` of its payment: no other one is sent under its id, unless it is amended. */
  readonly terms?: string;
  /** Mark of the payee's account, or `beneficiary_id`: as `terms`. */
  readonly payee?: string;
  /** Currency of the payee's account, if it is not that of the payment. */
  readonly otherCurrency?: string;
  /** Its file needs approval as a whole. */
  readonly needsApproval?: true;
};

/** The texts of a decision, sealed. */
interface DecisionBody {
  /** The answered question, or the hash of the approved request. */
  readonly question: string | null;
  readonly by: string;
  /** Source of the person's name: a terminal's user, a flag. */
  readonly how: string;
  readonly reason: string | null;
  readonly value: JsonObject;
}

const NUMBERED = {
  sequence: column.number,
  at: LINE.at,
  /** Null for the whole workflow id. */
  step: LINE.step,
};
const DECISION = {
  ...NUMBERED,
  account: column.text,
  /** Empty for all runs. */
  workflowId: column.text,
  kind: column.oneOf<DecisionKind>(),
};

/** A decision as recorded: append-only. */
export type Decision = RowOf<typeof DECISION> & DecisionBody;
/** A decision to be recorded. */
export type NewDecision = Omit<Decision, "sequence" | "at">;

/** The subject of a decision on a whole workflow id; "" is everything. */
export const onWhole = (workflowId: string, account = "") => ({
  account,
  workflowId,
  step: null,
  question: null,
});

/** An entry to be recorded, sealed: the outcome of a write, and who reports it. */
export interface NewEntry {
  /** The worker, tool or person. */
  readonly who: string;
  /** A few words: "sending", "succeeded", "not listed", "made twice". */
  readonly what: string;
  readonly details: JsonObject;
}
/** An entry as recorded: append-only, and chained by hashes with the decisions of its workflow id. */
export type Entry = RowOf<typeof NUMBERED> & NewEntry;

/** Line of the log of a workflow id. */
export type LogLine = Entry | Decision;

/** Whether the log of a workflow id is unchanged. */
export type Verification =
  | { readonly isIntact: true; readonly lines: number }
  /** The first line that does not follow from the one before it. */
  | { readonly isIntact: false; readonly sequence: number };

const LOG = logTable("");
const insertLine = LOG.inserter(["sequence"]);

/** Returns the statement that reads the decisions on a workflow id. */
export const selectDecisions = (workflowId: string): Query =>
  query("SELECT * FROM log WHERE workflow_id = $1 AND kind <> '' ORDER BY sequence", workflowId);

type Line = RowOf<typeof LINE>;

/** Covers the stored texts, sealed or not, and all earlier lines of the same workflow id. */
const hashOf = (previous: string, line: Omit<Line, "hash">): string => {
  const { account, at, body, generation, kind, runId, step, workflowId } = line;
  const said = [at, account, workflowId, step, runId, generation, kind, body];
  return hash("sha256", toJson([previous, ...said]), "base64url");
};

/** Makes the lines that one transaction adds to the log of a workflow id: each hash covers the one before it. */
export const logWriter = (workflowId: string, lastHash: string, now: number, seal: Seal) => {
  const writes: Array<Query> = [];
  let previous = lastHash;
  const add = (
    given: Pick<Line, "account" | "step" | "runId" | "generation" | "kind">,
    said: NewEntry | DecisionBody,
  ): void => {
    const line = { ...given, at: now, workflowId, body: seal.seal(toJson(said)) };
    previous = hashOf(previous, line);
    writes.push(insertLine({ ...line, hash: previous }, seal));
  };
  return {
    writes: writes as ReadonlyArray<Query>,
    entry: (entry: NewEntry, { account, step }: WriteName, runId: string, generation: number) =>
      add({ account, step, runId, generation, kind: "" }, entry),
    decision: ({ account, by, how, kind, question, reason, step, value }: NewDecision) =>
      add(
        { account, step, runId: null, generation: null, kind },
        { question, by, how, reason, value },
      ),
  };
};
export type LogWriter = ReturnType<typeof logWriter>;

const DECISION_BODY = column.sealed(column.json<DecisionBody>());
const ENTRY_BODY = column.sealed(column.json<NewEntry>());

/** Reads a decision. */
export const readDecision = (found: SqlRow, seal: Seal): Decision => ({
  ...readFields(DECISION, found, seal),
  ...DECISION_BODY.read(found["body"] ?? null, seal),
});

/** Reads a line. */
export const readLine = (found: SqlRow, seal: Seal): LogLine =>
  found["kind"] === ""
    ? { ...readFields(NUMBERED, found, seal), ...ENTRY_BODY.read(found["body"] ?? null, seal) }
    : readDecision(found, seal);

/** Returns the end of a workflow id that no later decision overrides. */
export const endAmong = (decisions: ReadonlyArray<Decision>): Decision | undefined => {
  const last = decisions.findLast(({ kind }) => kind === "end" || kind === "overrule");
  return last?.kind === "end" ? last : undefined;
};

/** Checks that every line follows from the one before it. */
export const verifyLines = (lines: ReadonlyArray<SqlRow>, seal: Seal): Verification => {
  let previous = "";
  for (const found of lines) {
    const line = LOG.read(found, seal);
    if (line.hash !== hashOf(previous, line)) return { isIntact: false, sequence: line.sequence };
    previous = line.hash;
  }
  return { isIntact: true, lines: lines.length };
};

/** Chains the kept lines of a pruned log again. Returns the statements, and the last hash. */
export const chainAgain = (lines: ReadonlyArray<SqlRow>, seal: Seal) => {
  let hash = "";
  const writes = lines.map((found) => {
    const line = LOG.read(found, seal);
    hash = hashOf(hash, line);
    return query("UPDATE log SET hash = $1 WHERE sequence = $2", hash, line.sequence);
  });
  return { hash, writes };
};
