import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { checkWorker } from "../../../src/definitions/check-worker.ts";
import { pauseSends } from "../../../src/definitions/pause-sends.ts";
import { tracker } from "../../../src/definitions/tracker.ts";
import { type Rig, withWorker } from "../rig.ts";
import { startService } from "../service.ts";
import { batchEndings } from "./batches.ts";
import type { Ending, Stage } from "./ending.ts";
import { notifierEndings } from "./notifiers.ts";
import { onboardingEndings } from "./onboardings.ts";
import { payoutEndings } from "./payouts.ts";

const pauseEndings: ReadonlyArray<Ending> = [
  {
    name: "pause-released",
    run: async ({ start }) => {
      const handle = await start(pauseSends);
      await handle.terminate("resumed");
      return handle;
    },
  },
];

const trackerEndings: ReadonlyArray<Ending> = [
  {
    name: "tracker-continued-as-new",
    activities: { trackWaiting: async () => undefined },
    run: ({ start }) => start(tracker),
  },
  {
    name: "tracker-cancelled",
    activities: {
      trackWaiting: () => {
        const { cancelled } = Context.current();
        const heart = setInterval(() => Context.current().heartbeat(), 500);
        return cancelled.finally(() => clearInterval(heart));
      },
    },
    run: async ({ start }) => {
      const handle = await start(tracker);
      await handle.cancel();
      return handle;
    },
  },
];

const workerCheckEndings: ReadonlyArray<Ending> = [
  {
    name: "check-worker-completed",
    run: ({ start }) => start(checkWorker),
  },
  {
    name: "check-worker-failed",
    activities: {
      checkWorkerNeeds: () => Promise.reject(ApplicationFailure.nonRetryable("refused")),
    },
    run: ({ start }) => start(checkWorker),
  },
];

/** The endings of the workflows, as they are recorded for replay; a new workflow adds its own. */
export const endings: ReadonlyArray<Ending> = [
  ...payoutEndings,
  ...onboardingEndings,
  ...batchEndings,
  ...trackerEndings,
  ...notifierEndings,
  ...pauseEndings,
  ...workerCheckEndings,
];

/** Brings a run to one of the endings, and gives its history; of a chain of runs, the first one's. */
export const historyOf = async (
  rig: Rig,
  { activities, approveAbove, isLatest, name, options, run }: Ending,
) => {
  const service = await startService(
    { settleAfter: 0, verifyAfter: 0, ...options },
    { requestTimeoutMs: 1_000, assumptions: { listLagSeconds: 0, visibilityLagSeconds: 1 } },
    { readPause: async () => undefined, ...(approveAbove && { approveAbove }) },
  );
  const { client } = rig.environment;
  try {
    return await withWorker(rig, { ...service.activities, ...activities }, async (queue) => {
      let firstRun = "";
      const start: Stage["start"] = async (workflow, ...args) => {
        const handle = await client.workflow.start(workflow.name, {
          args,
          workflowId: name,
          taskQueue: queue.taskQueue,
          memo: { startedBy: "Ada" },
        });
        firstRun = handle.firstExecutionRunId;
        return handle;
      };
      await run({ client, queue, service, start });
      const recorded = client.workflow.getHandle(name, isLatest ? undefined : firstRun, {
        followRuns: false,
      });
      // However it ends.
      await recorded.result().catch(() => undefined);
      return recorded.fetchHistory();
    });
  } finally {
    await service.stop();
  }
};
