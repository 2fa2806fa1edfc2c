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

/** It works. */
export const ok = (name: string, detail: string): Check => ({ name, status: "ok", detail });

/** It works, and may not for long. */
export const warning = (name: string, detail: string, remedy: string): Check => ({
  name,
  status: "warning",
  detail,
  remedy,
});

/** It does not work. */
export const failed = (name: string, detail: string, remedy: string | NextOperation): Check => ({
  name,
  status: "failed",
  detail,
  ...(typeof remedy === "string" ? { remedy } : { next: remedy }),
});

/** It was not examined, because something that it needs does not work. */
export const skipped = (name: string, detail: string): Check => ({
  name,
  status: "skipped",
  detail,
});

/** The same checks, by names that say of which account they are, where that has a name. */
export const ofAccount = (
  account: string | undefined,
  checks: ReadonlyArray<Check>,
): ReadonlyArray<Check> =>
  account === undefined
    ? checks
    : checks.map((check) => ({ ...check, name: `${account}: ${check.name}` }));
