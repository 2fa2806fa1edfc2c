import { isRecord } from "@durable-payments/api-core/values";
import type { RunLog } from "@durable-payments/control/show";
import { wordsOf } from "./run-text.ts";
import { beside, joined, styled, when, wrap } from "./text.ts";

type LogLine = RunLog["lines"][number];
type Decided = Extract<LogLine, { readonly kind: string }>;

/** A field of a decision, as the ledger's own functions record it. */
const plain = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

/** The start of a run, of a row of a file, or of a file. */
const startText = ({ reason, value }: Decided): string => {
  const { approveAbove = null, file, needsApproval, rows, type } = value;
  const of = isRecord(file) ? file : undefined;
  const parts = [
    rows === undefined ? `started ${plain(type)}` : `uploaded ${plain(file)}: ${plain(rows)} rows`,
    of && `row ${plain(of["row"])} of ${plain(of["name"])} (${plain(of["batch"])})`,
    approveAbove !== null && `approval above ${plain(approveAbove)}`,
    needsApproval === true && "its file needs approval",
    reason !== null && `no duplicate: ${reason}`,
  ];
  return parts.filter(Boolean).join(", ");
};

const scopeText = ({ value: { of, scope } }: Decided): string =>
  scope === "all" ? "all sends" : `sends of ${plain(of)}`;

/** Says a decision as its person would; the others by their kind and fields. */
const SAID: Readonly<Partial<Record<Decided["kind"], (line: Decided) => string>>> = {
  start: startText,
  approve: ({ value: { file, hash, rows } }) =>
    typeof hash === "string"
      ? `approved ${plain(rows)} rows (hash ${hash})`
      : `approved exactly this request${typeof file === "string" ? `, with its file ${file}` : ""}`,
  cancel: ({ value }) =>
    value["is"] === "Rejected" ? "rejected the file" : "cancelled the rows that had not started",
  end: ({ value }) => (value["rejected"] === true ? "rejected it" : "stopped it for good"),
  overrule: () => "overrode the stop order",
  resend: () => "had it sent again",
  found: ({ value: { id } }) => `found that it was made: ${plain(id)}`,
  retry: ({ value }) => (value["way"] === "reset" ? "retried it by a reset" : "retried it"),
  recover: () => "recovered the ledger",
  prune: () => "removed old entries",
  pause: (line) => `paused ${scopeText(line)}`,
  resume: (line) => `resumed ${scopeText(line)}`,
};

const logLine = (line: LogLine): string => {
  const start = `  ${when(line.at)}  ${line.step === null ? "" : `${line.step}: `}`;
  if (!("kind" in line))
    return beside(start, joined([`${line.what}, by ${line.who}`, wordsOf(line.details)], ": "));
  const { by, how, kind, reason, value } = line;
  const said = SAID[kind]?.(line) ?? joined([kind, wordsOf(value)], " ");
  const why = kind === "start" ? null : reason;
  return beside(start, joined([`${by} (${how}) ${styled("bold", said)}`, why], ": "));
};

/** Prints the log of a workflow id, and whether it is unchanged. */
export const logText = ({ lines, verification, workflowId }: RunLog): string =>
  [
    styled("bold", workflowId),
    ...lines.map(logLine),
    ...(verification === undefined
      ? []
      : [
          "",
          verification.isIntact
            ? styled("green", `Verified: all ${verification.lines} lines are unchanged.`)
            : wrap(
                styled(
                  "red",
                  `EDITED: entry ${verification.sequence} does not match the entry before it.`,
                ),
              ),
        ]),
  ].join("\n");
