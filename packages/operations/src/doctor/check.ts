import type { NextOperation } from "../errors.ts";

/** One thing that must work, and whether it does. */
export interface Check {
  readonly name: string;
  readonly status: "ok" | "warning" | "failed" | "skipped";
  /** What was found. */
  readonly detail: string;
  /** What to do about it: a sentence, or a command of Temporal's own. */
  readonly remedy?: string;
  /** What to do about it, where an operation does it. */
  readonly next?: NextOperation;
}

const withStatus =
  (status: Check["status"]) =>
  (name: string, detail: string, remedy?: string | NextOperation): Check => ({
    name,
    status,
    detail,
    ...(remedy !== undefined && (typeof remedy === "string" ? { remedy } : { next: remedy })),
  });

export const ok = withStatus("ok");
/** It works, and may not for long. */
export const warning = withStatus("warning");
export const failed = withStatus("failed");
/** It was not examined, because something that it needs does not work. */
export const skipped = withStatus("skipped");
