import { defineQuery } from "./message-definitions.ts";

/** One entry of a run's audit trail. */
export interface AuditEntry {
  /** ISO 8601. */
  readonly at: string;
  /** `run`, or the name of the person who acted. */
  readonly who: string;
  readonly step: string;
  /** What happened: `intended`, `sending`, `no answer`, `reconciled: Found`, `known`, `asked`, … */
  readonly what: string;
  /** The `unique_request_id` under which it was sent. */
  readonly key?: string;
  /** Ids, amounts, reasons: no account numbers, no names. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** The audit trail of a run, oldest first. Works for closed runs too. */
export const auditQuery = defineQuery<ReadonlyArray<AuditEntry>>("audit");
