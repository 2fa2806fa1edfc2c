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

const withRemedy = (
  status: Check["status"],
  name: string,
  detail: string,
  remedy: string | NextOperation | undefined,
): Check => ({
  name,
  status,
  detail,
  ...(remedy !== undefined && (typeof remedy === "string" ? { remedy } : { next: remedy })),
});

/** It works. */
export const ok = (name: string, detail: string): Check => ({ name, status: "ok", detail });

/** It works, and may not for long. */
export const warning = (name: string, detail: string, remedy?: string | NextOperation): Check =>
  withRemedy("warning", name, detail, remedy);

/** It does not work. */
export const failed = (name: string, detail: string, remedy?: string | NextOperation): Check =>
  withRemedy("failed", name, detail, remedy);

/** It was not examined, because something that it needs does not work. */
export const skipped = (name: string, detail: string): Check => ({
  name,
  status: "skipped",
  detail,
});
