import { progressQuery } from "@durable-payments/protocol";
import type { WorkflowHandle } from "@temporalio/client";
import { expect, vi } from "vitest";

/** A busy machine takes its time. */
export const WITHIN = { timeout: 120_000, interval: 50 };

/** Waits until a run asks a person, and for a reason that contains this. */
export const untilAsked = (handle: WorkflowHandle, reason = ""): Promise<void> =>
  vi.waitFor(
    async () => expect((await handle.query(progressQuery)).attention?.reason).toContain(reason),
    WITHIN,
  );

/** Waits until a run is at a stage. */
export const untilStage = (handle: WorkflowHandle, stage: string): Promise<void> =>
  vi.waitFor(async () => expect((await handle.query(progressQuery)).stage).toBe(stage), WITHIN);
