import { payout } from "@durable-payments/tools/test-data";
import { createLocalEnvironment } from "@durable-payments/tools/testing";
import { afterAll, expect, it, vi } from "vitest";
import { temporalSettings } from "../../src/connection/settings.ts";
import {
  connectTemporal,
  onTemporal,
  type Temporal,
  withTemporal,
} from "../../src/connection/temporal.ts";
import { terminateRun } from "../../src/ending/end-run.ts";
import { readAssumptions } from "../../src/input/check-run-file.ts";
import { planPayout } from "../../src/input/payout.ts";
import { pauseSends } from "../../src/pause/pause.ts";
import { reportRun } from "../../src/runs/report.ts";
import { describeRun } from "../../src/runs/state.ts";
import { startRun } from "../../src/start/start-run.ts";
import { NO_JOURNAL } from "../support/no-journal.ts";
import { type StartAnswer, TemporalStub } from "../support/temporal-stub.ts";

const environment = await createLocalEnvironment();
afterAll(() => environment.teardown());

const planned = planPayout({ beneficiary_id: "b-1", payout }, readAssumptions());
const ending = { by: "Ada", reason: "stuck" };

const connected = <A>(use: (temporal: Temporal) => Promise<A>): Promise<A> =>
  withTemporal(temporalSettings({ TEMPORAL_ADDRESS: environment.address }), use);

/** As the client reports a call whose answer was lost. */
const unavailable = () =>
  Object.assign(new Error("14 UNAVAILABLE: answer lost"), {
    code: 14,
    details: "answer lost",
    metadata: new Map(),
  });

const mayBeDone = (what: string) => ({
  _tag: "ConnectionFailed",
  reason: "temporalError",
  carriedOut: "unknown",
  message: expect.stringContaining(what) as unknown,
});

it.each<[string, StartAnswer]>([
  ["is lost", 14],
  ["is an internal error", 13],
  ["never arrives", "noAnswer"],
])(
  "a start whose answer %s may have been carried out, and ends within a bound",
  async (_, answer) => {
    const stub = new TemporalStub([], answer);
    try {
      const settings = temporalSettings({ TEMPORAL_ADDRESS: await stub.listen() });
      const started = withTemporal(settings, (temporal) =>
        startRun(temporal, "invoice-1", planned, { startedBy: "Ada", journal: NO_JOURNAL }),
      );
      await expect(started).rejects.toMatchObject({
        ...mayBeDone("The run invoice-1 may have been started"),
        next: { operation: "describe", workflowId: "invoice-1" },
      });
      expect(stub.started).not.toEqual([]);
    } finally {
      stub.close();
    }
  },
);

it("a start that Temporal does not permit was not carried out", async () => {
  const stub = new TemporalStub([], 7);
  try {
    const settings = temporalSettings({ TEMPORAL_ADDRESS: await stub.listen() });
    const error: unknown = await withTemporal(settings, (temporal) =>
      startRun(temporal, "invoice-1", planned, { startedBy: "Ada", journal: NO_JOURNAL }),
    ).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ _tag: "ConnectionFailed", reason: "temporalError" });
    expect(error).not.toHaveProperty("carriedOut");
  } finally {
    stub.close();
  }
});

it("a termination without an answer may have been carried out", async () => {
  await connected(async (temporal) => {
    await startRun(temporal, "lost", planned, { startedBy: "Ada", journal: NO_JOURNAL });
    const { workflowService } = temporal.client;
    const terminate = workflowService.terminateWorkflowExecution.bind(workflowService);
    vi.spyOn(workflowService, "terminateWorkflowExecution").mockImplementation(async (request) => {
      await terminate(request);
      throw unavailable();
    });
    await expect(terminateRun(temporal, "lost", ending)).rejects.toMatchObject(
      mayBeDone("The run lost may have been terminated"),
    );
    expect((await describeRun(temporal, "lost")).status.name).toBe("TERMINATED");
  });
});

it("a termination that an attempt before has carried out is done", async () => {
  await connected(async (temporal) => {
    await startRun(temporal, "twice", planned, { startedBy: "Ada", journal: NO_JOURNAL });
    const { runId } = await describeRun(temporal, "twice");
    const { workflowService } = temporal.client;
    const terminate = workflowService.terminateWorkflowExecution.bind(workflowService);
    vi.spyOn(workflowService, "terminateWorkflowExecution").mockImplementation(async (request) => {
      await terminate(request);
      return await terminate(request);
    });
    expect(await terminateRun(temporal, "twice", ending)).toMatchObject({ runId });
  });
});

it("a pause without an answer may have been made", async () => {
  await connected(async (temporal) => {
    const { workflowService } = temporal.client;
    vi.spyOn(workflowService, "startWorkflowExecution").mockRejectedValue(unavailable());
    await expect(pauseSends(temporal, { by: "Ada", why: "tests" })).rejects.toMatchObject(
      mayBeDone("Sends may have been paused"),
    );
  });
});

it("a kept connection words Temporal's errors as one for a single use does", async () => {
  const settings = temporalSettings({
    TEMPORAL_ADDRESS: environment.address,
    TEMPORAL_NAMESPACE: "nowhere",
  });
  const kept = await connectTemporal(settings);
  try {
    const missing = { _tag: "ConnectionFailed", reason: "namespaceNotFound" };
    for (let times = 0; times < 2; times += 1) {
      await expect(
        onTemporal(kept, (temporal) => reportRun(temporal, "invoice-1")),
      ).rejects.toMatchObject(missing);
    }
  } finally {
    await kept.connection.close();
  }
});
