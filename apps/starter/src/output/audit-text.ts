import type { AuditReport } from "@durable-payments/operations/audit";
import { type AuditEntry, UNVERIFIED, utc } from "@durable-payments/protocol";
import { fieldRows, wrapDeeper } from "./text.ts";

/** Who did it stands behind what they did: `overruled by Bob: rejected`. */
const byWhom = (what: string, who: string): string => {
  const [done = "", ...of] = what.split(": ");
  return [`${done} by ${who}`, ...of].join(": ");
};

const entryText = ({ at, detail = {}, key, step, what, who }: AuditEntry): string => {
  const details = [
    ...(key === undefined ? [] : [["key", key] as const]),
    ...fieldRows(detail).filter(([name]) => name !== ""),
  ].map(([name, value]) => `${name} ${value}`);
  const head = `${utc(at)}  ${step}  ${who === "run" ? what : byWhom(what, who)}`;
  return details.length === 0 ? head : `${head}\n${wrapDeeper(details.join(", "), "    ")}`;
};

/** An audit trail as a person reads it. */
export const auditText = ({ entries }: AuditReport): string =>
  entries.length === 0
    ? "Nothing has happened yet."
    : [...entries.map(entryText), `The ${UNVERIFIED}.`].join("\n");
