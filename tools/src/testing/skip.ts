import type { TestOptions } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Why a test is skipped. */
    skipReason?: string;
  }
}

/** Options of a test, or of a group, that is skipped where something is missing; the reporter prints what. */
export const skippedBecause = (missing: string | undefined): TestOptions =>
  missing === undefined ? {} : { skip: true, meta: { skipReason: missing } };
