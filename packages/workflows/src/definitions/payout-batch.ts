import type { BatchActivities } from "@durable-payments/activities";
import {
  type BatchPosition,
  type BatchProgress,
  batchProgressQuery,
  type OverruledBatch,
  type PayoutBatchInput,
  type PayoutBatchResult,
  STEP,
} from "@durable-payments/protocol";
import {
  ActivityCancellationType,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import { localActivities } from "../run/activities.ts";
import { BatchCommands } from "../run/batch-commands.ts";
import { beginRun, type Run, stateOf } from "../run/run.ts";
import { awaitApproval, startedBy } from "../steps/approval.ts";

const WINDOW = 100;

/** About seven events a chunk. */
const CHUNKS_IN_A_RUN = 100;

// On the workflow's own queue: they call Temporal, and do not use up the service's rate.
const { awaitPayoutRuns, closeChunks, startPayoutRuns } = proxyActivities<BatchActivities>({
  startToCloseTimeout: "30 days",
  // A pause or a cancellation arrives with a heartbeat, within four fifths of this.
  heartbeatTimeout: "5 seconds",
  retry: { initialInterval: "1 second", backoffCoefficient: 2, maximumInterval: "1 minute" },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** Below each amount. */
const NOTHING = { above: "0" };

const rejectedText = ({ by, overruled, why }: OverruledBatch): string =>
  `by ${by} (${why}), overruled by ${overruled.by} (${overruled.why})`;

const approve = async (
  run: Run,
  { approval: given, overruled = [], rows, totals }: PayoutBatchInput,
): Promise<void> => {
  stateOf(run).audit.addDecisions(STEP.awaitApproval, overruled);
  const approval = overruled.length > 0 ? NOTHING : given;
  if (approval === undefined) return;
  for (const amount of Object.values(totals)) {
    if (await localActivities.isAbove({ amount, limit: approval.above })) {
      const rejected = overruled.map(rejectedText).join("; ");
      const shown = { rows, ...totals, ...(rejected !== "" && { rejected }) };
      // The id stands for the content of every row.
      const payload = { batch: workflowInfo().workflowId, ...shown };
      await awaitApproval(run, approval, { amount, payload, shown, overruled });
      return;
    }
  }
};

/** Pay the rows of a batch: one payout run each, a window of them at a time. */
export async function payoutBatch(input: PayoutBatchInput): Promise<PayoutBatchResult> {
  const run = beginRun();
  const batch = workflowInfo().workflowId;
  let at: BatchPosition = input.from ?? {
    chunk: 1,
    skip: 0,
    done: 0,
    started: 0,
    known: 0,
    conflicting: 0,
    since: workflowInfo().startTime.getTime(),
  };
  let starting = new CancellationScope();
  let isStopped = false;
  const commands = new BatchCommands(stateOf(run), at, () => {
    isStopped = true;
    starting.cancel();
  });
  setHandler(batchProgressQuery, (): BatchProgress => {
    const { conflicting, done, known, rejected, started } = at;
    return {
      rows: input.rows,
      done,
      started,
      known,
      conflicting,
      ...(rejected !== undefined && { rejected }),
      ...commands.given,
    };
  });
  commands.listen();

  const closeRest = () => closeChunks({ batch, from: at.chunk, to: input.chunks });

  const startChunk = async (): Promise<void> => {
    starting = new CancellationScope();
    isStopped = false;
    const { chunk, skip, started } = at;
    try {
      const rows = await starting.run(() =>
        startPayoutRuns.executeWithOptions({ summary: `Start the rows of chunk ${chunk}` }, [
          {
            batch,
            chunk,
            hash: input.hashes?.[chunk - 1],
            ...(chunk === 1 && input.hashes && { hashes: input.hashes }),
            skip,
            started,
            window: input.window ?? WINDOW,
            startedBy: startedBy() ?? "",
            since: at.since ?? workflowInfo().startTime.getTime(),
            overruled: (input.overruled ?? []).map(({ runId }) => runId),
          },
        ]),
      );
      const rejected = (at.rejected ?? 0) + (rows.rejected ?? 0);
      at = {
        ...at,
        chunk: rows.isWhole ? chunk + 1 : chunk,
        skip: rows.isWhole ? 0 : rows.rows,
        done: at.done + rows.rows - skip,
        started: started + rows.started,
        known: at.known + rows.known,
        conflicting: at.conflicting + rows.conflicting,
        ...(rejected > 0 && { rejected }),
      };
    } catch (error) {
      const isByCommand = isStopped && !CancellationScope.current().consideredCancelled;
      // Stopped between two attempts: what they did is found when the chunk is read again.
      if (!isCancellation(error) || !isByCommand) throw error;
    }
  };

  /** @returns whether there is more for the run that continues this one */
  const startChunks = async (step: string): Promise<boolean> => {
    const first = at.chunk;
    while (at.chunk <= input.chunks && commands.cancelled === undefined) {
      if (commands.paused) {
        run.waiting(step, `paused by ${commands.paused.by}`);
        await condition(() => !commands.paused || commands.cancelled !== undefined);
      } else if (at.chunk - first >= CHUNKS_IN_A_RUN || workflowInfo().continueAsNewSuggested) {
        return true;
      } else {
        await startChunk();
      }
    }
    return false;
  };

  const result = await run.execute(async (): Promise<PayoutBatchResult | undefined> => {
    run.onFailure({ what: "close the chunks", how: closeRest });
    if (input.from === undefined) {
      const isCancelled = condition(() => commands.cancelled !== undefined);
      await Promise.race([approve(run, input), isCancelled]);
    }
    const note = `starting ${input.rows} payouts`;
    if (await run.step(STEP.startPayouts, note, startChunks)) return undefined;
    commands.isDone = true;
    if (commands.cancelled) await closeRest();
    const { conflicting, done, known, rejected, started } = at;
    const endings = await run.step(STEP.awaitPayouts, "waiting for the runs to end", (step) => {
      run.waiting(step, "waiting for the runs to end");
      return awaitPayoutRuns({ batch, started });
    });
    const notStarted = input.rows - done;
    return {
      rows: input.rows,
      started,
      known,
      conflicting,
      ...(rejected !== undefined && { rejected }),
      notStarted,
      ...endings,
    };
  });
  if (result !== undefined) return result;
  return await continueAsNew<typeof payoutBatch>({
    ...input,
    from: { ...at, ...commands.given },
  });
}
