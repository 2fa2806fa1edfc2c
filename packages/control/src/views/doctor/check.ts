import type { NextAction } from "../../errors.ts";

/** One thing that must work, and whether it does. */
export interface Check {
  readonly name: string;
  readonly status: "ok" | "warning" | "failed" | "skipped";
  /** The finding. */
  readonly detail: string;
  /** The remedy: a sentence. */
  readonly remedy?: string;
  /** The remedy, if an action does it. */
  readonly next?: NextAction;
}

const withStatus =
  (status: Check["status"]) =>
  (name: string, detail: string, remedy?: string | NextAction): Check => ({
    name,
    status,
    detail,
    ...(remedy !== undefined && (typeof remedy === "string" ? { remedy } : { next: remedy })),
  });

export const ok = withStatus("ok");
/** It works, but may stop working. */
export const warning = withStatus("warning");
export const failed = withStatus("failed");
/** It was not examined, because a prerequisite does not work. */
export const skipped = withStatus("skipped");
