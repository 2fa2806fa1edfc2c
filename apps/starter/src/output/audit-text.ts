import type { AuditReport } from "@durable-payments/operations/audit";
import { type AuditEntry, UNVERIFIED, utc } from "@durable-payments/protocol";
import { fieldRows, wrapDeeper } from "./text.ts";

const entryText = ({ at, detail = {}, key, step, what, who }: AuditEntry): string => {
  const details = [
    ...(key === undefined ? [] : [["key", key] as const]),
    ...fieldRows(detail).filter(([name]) => name !== ""),
  ].map(([name, value]) => `${name} ${value}`);
  const head = `${utc(at)}  ${step}  ${what}${who === "run" ? "" : ` by ${who}`}`;
  return details.length === 0 ? head : `${head}\n${wrapDeeper(details.join(", "), "    ")}`;
};

/** An audit trail as a person reads it. */
export const auditText = ({ entries }: AuditReport): string =>
  entries.length === 0
    ? "Nothing has happened yet."
    : [...entries.map(entryText), `The ${UNVERIFIED}.`].join("\n");
