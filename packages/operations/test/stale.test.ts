import { defaultAssumptions } from "@durable-payments/api-core";
import { describe, expect, it } from "vitest";
import type { Temporal } from "../src/connection/temporal.ts";
import { settle } from "../src/decisions/settle.ts";
import { cancelRun, terminateRun } from "../src/ending/end-run.ts";
import { planRetryOf, retryRun } from "../src/retry/retry.ts";
import { retryMany } from "../src/retry/retry-many.ts";
import { startServer } from "./support/server.ts";

const { begin, connected, workflow } = await startServer();

type Operation = (temporal: Temporal, id: string, expectedRunId?: string) => Promise<unknown>;

const acting = { by: "Ada", reason: "checked" };
const retry = {
  ...acting,
  from: undefined,
  patch: undefined,
  assumptions: defaultAssumptions,
  decisions: "keep",
} as const;

it("of many runs, one that another has replaced since is left alone, and the others are not", () =>
  connected(async (temporal) => {
    const [replaced, seen] = [await begin("many-replaced"), await begin("many-seen")];
    await Promise.all([replaced.terminate(), seen.terminate()]);
    const later = await begin("many-replaced");
    const runs = [replaced, seen].map(({ firstExecutionRunId: runId, workflowId }) => ({
      workflowId,
      runId,
    }));
    const report = await retryMany(temporal, runs, { ...retry, isDryRun: false, rate: 100 });
    const reasons = new Map(report.runs.map(({ reason, workflowId }) => [workflowId, reason]));
    expect(report).toMatchObject({ count: 2, retried: 0, notRetried: 2 });
    expect(reasons.get("many-replaced")).toContain(
      `is ${later.firstExecutionRunId} by now, and not ${replaced.firstExecutionRunId}`,
    );
    expect(reasons.get("many-seen")).toContain("has not begun its first step");
    await later.terminate();
  }));

/** Each refuses or fails without an expected run, too: no run here has done anything. */
const ofEnded: Readonly<Record<string, Operation>> = {
  planRetryOf: (temporal, id, expectedRunId) =>
    planRetryOf(temporal, id, { ...retry, expectedRunId }),
  retryRun: (temporal, id, expectedRunId) => retryRun(temporal, id, { ...retry, expectedRunId }),
  settle: (temporal, id, expectedRunId) =>
    settle(temporal, id, { ...acting, step: undefined, found: undefined, expectedRunId }),
};

const ofOpen: Readonly<Record<string, Operation>> = {
  cancelRun: (temporal, id, expectedRunId) => cancelRun(temporal, id, { ...acting, expectedRunId }),
  terminateRun: (temporal, id, expectedRunId) =>
    terminateRun(temporal, id, { ...acting, expectedRunId }),
};

const stale = (id: string, seen: string, latest: string) => ({
  _tag: "Refused",
  message: `The latest run of ${id} is ${latest} by now, and not ${seen}: see what it does before you decide anew. Nothing was done.`,
  next: { operation: "describe", workflowId: id },
});

const statusOf = async (id: string) => (await workflow.getHandle(id).describe()).status.name;

describe.each(Object.entries({ ...ofEnded, ...ofOpen }))("%s", (name, operation) => {
  it("does nothing to a later run than the one that was seen", () =>
    connected(async (temporal) => {
      const id = `stale-${name}`;
      const first = await begin(id);
      await first.terminate();
      const second = await begin(id);
      const message = stale(id, first.firstExecutionRunId, second.firstExecutionRunId);
      await expect(operation(temporal, id, first.firstExecutionRunId)).rejects.toMatchObject(
        message,
      );
      expect(await statusOf(id)).toBe("RUNNING");
      await second.terminate();
      await expect(operation(temporal, id, first.firstExecutionRunId)).rejects.toMatchObject(
        message,
      );
    }));
});

it.each(Object.entries(ofOpen))(
  "%s ends the run that was seen, and any that is meant",
  (name, operation) =>
    connected(async (temporal) => {
      const id = `current-${name}`;
      for (const isSeen of [true, false]) {
        const run = await begin(id);
        const runId = run.firstExecutionRunId;
        const ended = await operation(temporal, id, isSeen ? runId : undefined);
        expect(ended).toMatchObject({ runId });
        await run.terminate().catch(() => undefined);
      }
    }),
);

it.each(Object.entries(ofEnded))(
  "%s goes by the run that was seen, as far as it goes",
  (name, operation) =>
    connected(async (temporal) => {
      const id = `current-${name}`;
      const run = await begin(id);
      await run.terminate();
      for (const expected of [run.firstExecutionRunId, undefined]) {
        await expect(operation(temporal, id, expected)).rejects.toMatchObject({
          message: expect.stringMatching(/has not begun its first step|is in doubt/) as unknown,
        });
      }
    }),
);
