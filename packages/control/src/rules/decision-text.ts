/**
 * Words of decisions, as their person would say them: the log and the view of an approver say the same, so that nobody has to
 * guess whether they mean the same.
 */
import { isRecord } from "@durable-payments/client/values";
import { type Decision, limitsOf } from "@durable-payments/ledger";
import { limitsText } from "./limits-text.ts";

/** A field of a decision, as the ledger's own functions record it. */
const plain = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

const differs = ({ notDuplicate }: Decision["value"]): string =>
  notDuplicate === undefined ? "" : `, no duplicate: ${plain(notDuplicate)}`;

const currencyText = ({ value: { otherCurrency } }: Decision): string =>
  otherCurrency === undefined ? "" : `to an account in another currency: ${plain(otherCurrency)}`;

const rowsText = (rows: unknown): string => `${plain(rows)} ${rows === 1 ? "row" : "rows"}`;

/** The start of a run, of a row of a file, or of a file. */
const startText = (decision: Decision): string => {
  const { reason, value } = decision;
  const {
    approveAbove = null,
    file,
    needsApproval,
    notDuplicate = reason,
    rows,
    runs,
    type,
  } = value;
  if (runs !== undefined) {
    const why = reason === null ? "" : `, reason: ${reason}`;
    return `started a repair of ${plain(runs)} ${runs === 1 ? "run" : "runs"} (${plain(file)})${why}${differs(value)}`;
  }
  const of = isRecord(file) ? file : undefined;
  const parts = [
    rows === undefined ? `started ${plain(type)}` : `uploaded ${plain(file)}: ${rowsText(rows)}`,
    of && `row ${plain(of["row"])} of ${plain(of["name"])} (${plain(of["batch"])})`,
    approveAbove !== null && `approval above ${plain(approveAbove)}`,
    needsApproval === true && "its file needs approval",
    currencyText(decision),
    notDuplicate !== null && `no duplicate: ${plain(notDuplicate)}`,
  ];
  return parts.filter(Boolean).join(", ");
};

/** With what the approver read. */
const approveText = ({ value: { file, hash, rows, seen, sequence } }: Decision): string => {
  const read = plain(seen) === "" ? "" : ` (${plain(seen)})`;
  if (sequence !== undefined) return "approved the looser limits";
  const what = rows === undefined ? "exactly this request" : rowsText(rows);
  // A row is approved by the hash of its file.
  const how = file === undefined ? "" : `, with its file ${plain(file)}`;
  const by = hash === undefined ? "" : `, hash ${plain(hash)}`;
  return `approved ${what}${read}${how}${by}`;
};

const scopeText = ({ value: { of, scope } }: Decision): string =>
  scope === "all" ? "all sends" : `sends of ${plain(of)}`;

const SAID: Readonly<Record<Decision["kind"], (decision: Decision) => string>> = {
  start: startText,
  approve: approveText,
  amend: (decision) => {
    const { changed } = decision.value;
    const parts = [...(Array.isArray(changed) ? changed.map(plain) : []), currencyText(decision)];
    return `amended it: ${parts.filter(Boolean).join("; ")}`;
  },
  reject: () => "rejected the file",
  cancel: () => "cancelled the rows that had not started",
  end: ({ value }) => (value["rejected"] === true ? "rejected it" : "stopped it for good"),
  overrule: () => "overrode the stop order",
  resend: () => "had it sent again",
  found: ({ value: { id } }) => `found that it was made: ${plain(id)}`,
  retry: ({ value: { firstRunId, way, ...value } }) =>
    firstRunId === undefined
      ? `retried it${way === "reset" ? " by a reset" : ""}${differs(value)}`
      : `started run ${plain(firstRunId)} by the retry`,
  limits: (decision) => `set limits: ${limitsText(limitsOf([decision]))}`,
  word: ({ value: { means, word } }) => `said that the word "${plain(word)}" means ${plain(means)}`,
  recover: () => "recovered the ledger",
  prune: () => "removed old entries",
  pause: (line) => `paused ${scopeText(line)}`,
  resume: (line) => `resumed ${scopeText(line)}`,
};

/** Words a decision with its reason: `stopped it for good: fraud`. */
export const decisionText = (decision: Decision): string => {
  const { kind, reason } = decision;
  // The reason of a file says why it is not a duplicate, and is part of its start.
  return `${SAID[kind](decision)}${reason === null || kind === "start" ? "" : `: ${reason}`}`;
};
