import type { TestOptions } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Why a test is skipped. */
    skipReason?: string;
  }
}

/** Options of a test, or of a group, that is skipped if something is missing, with the reason for the reporter. */
export const skippedBecause = (missing: string | undefined): TestOptions =>
  missing === undefined ? {} : { skip: true, meta: { skipReason: missing } };
