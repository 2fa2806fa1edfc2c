import { type ReadyProcess, runTemporalCli } from "@durable-payments/tools/testing";
import type { WorkflowHandle } from "@temporalio/client";
import { expect, it, vi } from "vitest";
import { payoutInput } from "./support/inputs.ts";
import { makeRig } from "./support/rig.ts";

const WAITING = { timeout: 120_000, interval: 200 };

const { simulator, startWorker, temporal: environment } = await makeRig({ settleAfter: Infinity });

const temporal = (line: string) => runTemporalCli(line, environment.address);

const startBuild = (buildId: string): Promise<ReadyProcess> =>
  startWorker({ PAYMENTS_DEPLOYMENT_NAME: "payments", PAYMENTS_BUILD_ID: buildId });

/** As docs/deployments.md makes a build the one that new runs go to. */
const setCurrent = (buildId: string): Promise<void> =>
  // The server knows a build once its worker has polled.
  vi.waitFor(async () => {
    await temporal(
      `temporal worker deployment set-current-version --deployment-name payments --build-id ${buildId} --yes`,
    );
  }, WAITING);

const pay = (workflowId: string): Promise<WorkflowHandle> =>
  environment.client.workflow.start("payout", {
    workflowId,
    taskQueue: "payments",
    args: [{ ...payoutInput, options: { pollInterval: { min: "100 ms", max: "300 ms" } } }],
  });

/** The builds that took the run's workflow tasks, in their order, without repeats. */
const buildsOf = async (handle: WorkflowHandle): Promise<ReadonlyArray<string>> => {
  const { events } = await handle.fetchHistory();
  const builds = (events ?? []).flatMap((event) => {
    const task = event.workflowTaskCompletedEventAttributes;
    return task ? [task.deploymentVersion?.buildId ?? "none"] : [];
  });
  return builds.filter((build, index) => build !== builds[index - 1]);
};

const awaitsPayout = (handle: WorkflowHandle): Promise<string> =>
  vi.waitFor(async () => {
    const { ids, stage } = await handle.query<{
      readonly stage: string;
      readonly ids: Readonly<Record<string, string>>;
    }>("progress");
    expect(stage).toBe("awaitPayout");
    return ids["payout_id"] ?? "";
  }, WAITING);

/** Process ids of the workers that ran the run's activities. */
const processesOf = async (handle: WorkflowHandle): Promise<ReadonlySet<number>> => {
  const { events } = await handle.fetchHistory();
  const identities = (events ?? []).flatMap(
    ({ activityTaskStartedEventAttributes: started }) => started?.identity ?? [],
  );
  return new Set(identities.map((identity) => Number.parseInt(identity, 10)));
};

/** What the worker controller runs before it moves anything to a build: once on each queue of workflows. */
const gate = async (buildId: string): Promise<ReadonlyArray<WorkflowHandle>> => {
  const handles = await Promise.all(
    ["payments", "payments/batch"].map((taskQueue) =>
      environment.client.workflow.start("checkWorker", {
        workflowId: `test-payments:${buildId}-${taskQueue}`,
        taskQueue,
        versioningOverride: { pinnedTo: { deploymentName: "payments", buildId } },
      }),
    ),
  );
  await Promise.all(handles.map((handle) => handle.result()));
  return handles;
};

const settle = async (handle: WorkflowHandle): Promise<void> => {
  await simulator.setPayoutStatus(await awaitsPayout(handle), "completed");
};

it("a build rolls out, the one before drains, and a rollback takes back: no run is lost", async () => {
  const first = await startBuild("1");
  await setCurrent("1");
  const [pinned, moving] = [await pay("pinned"), await pay("moving")];
  await Promise.all([awaitsPayout(pinned), awaitsPayout(moving)]);
  await temporal(
    "temporal workflow update-options --workflow-id pinned --versioning-override-behavior pinned --versioning-override-deployment-name payments --versioning-override-build-id 1",
  );

  const second = await startBuild("2");
  await vi.waitFor(
    () =>
      temporal(
        "temporal worker deployment set-ramping-version --deployment-name payments --build-id 2 --percentage 10 --yes",
      ),
    WAITING,
  );
  for (const handle of await gate("2")) {
    expect(await buildsOf(handle)).toEqual(["2"]);
    expect(await processesOf(handle)).toEqual(new Set([second.pid]));
  }
  await setCurrent("2");
  const fresh = await pay("fresh");
  await Promise.all([fresh, pinned, moving].map(settle));
  await Promise.all([fresh, pinned, moving].map((handle) => handle.result()));
  expect(await buildsOf(pinned)).toEqual(["1"]);
  expect(await processesOf(pinned)).toEqual(new Set([first.pid]));
  expect(await buildsOf(moving)).toEqual(["1", "2"]);
  expect(await buildsOf(fresh)).toEqual(["2"]);
  expect(await processesOf(fresh)).toEqual(new Set([second.pid]));

  const version = await temporal(
    "temporal worker deployment describe-version --deployment-name payments --build-id 1",
  );
  expect(version).toMatch(/DrainageStatus +(draining|drained)/);

  const back = await pay("back");
  await awaitsPayout(back);
  await setCurrent("1");
  expect(await second.kill("SIGTERM")).toEqual({ code: 0, signal: undefined });
  const after = await pay("after");
  await Promise.all([back, after].map(settle));
  await Promise.all([back, after].map((handle) => handle.result()));
  expect(await buildsOf(back)).toEqual(["2", "1"]);
  expect(await buildsOf(after)).toEqual(["1"]);
  expect(await processesOf(after)).toEqual(new Set([first.pid]));
});
