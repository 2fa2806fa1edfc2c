import type { BatchActivities } from "@durable-payments/activities";
import {
  type ApprovalOptions,
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
  patched,
  proxyActivities,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import { localActivities, ofPinnedAccount } from "../run/activities.ts";
import { BatchCommands } from "../run/batch-commands.ts";
import { PROVED } from "../run/approvals.ts";
import { failureOfActivity } from "../run/failures.ts";
import {
  count,
  list,
  nullable,
  object,
  optional,
  refuseUnreadable,
  table,
  text,
} from "../run/input-faults.ts";
import { accountOf, beginRun, type Run, stateOf } from "../run/run.ts";
import { awaitApproval, compareWithLimits, startedBy } from "../steps/approval.ts";

const readable = object({
  chunks: count,
  rows: count,
  totals: table(text),
  hashes: optional(list(text)),
  overruled: optional(
    list(object({ by: text, why: text, overruled: object({ by: text, why: text }) })),
  ),
  approval: nullable(object({ above: text })),
  window: optional(count),
});

const WINDOW = 100;

/** About seven events a chunk. */
const CHUNKS_IN_A_RUN = 100;

// On the workflow's own queue: they call Temporal, and do not use up the service's rate.
const { awaitPayoutRuns, closeChunks, countPayees, startPayoutRuns } = ofPinnedAccount(
  proxyActivities<BatchActivities>({
    startToCloseTimeout: "30 days",
    // A pause or a cancellation arrives with a heartbeat, within four fifths of this.
    heartbeatTimeout: "5 seconds",
    retry: { initialInterval: "1 second", backoffCoefficient: 2, maximumInterval: "1 minute" },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  }),
);

/** Below each amount. */
const NOTHING = { above: "0" };

const rejectedText = ({ by, overruled, why }: OverruledBatch): string =>
  `by ${by} (${why}), overruled by ${overruled.by} (${overruled.why})`;

/** What a second person has approved of a batch; undefined where nobody was asked. */
type ApprovedBatch = Pick<BatchPosition, "approvals" | "payees">;

/** Whom a batch pays. A beneficiary that was paid before may have had another account then. */
const shownPayees = ({
  accountsNeverPaid,
  neverPaid,
  payees,
}: Awaited<ReturnType<BatchActivities["countPayees"]>>) => ({
  payees,
  never_paid_before: neverPaid ?? "unknown",
  ...(accountsNeverPaid !== undefined &&
    accountsNeverPaid !== neverPaid && { account_never_paid_before: accountsNeverPaid }),
});

/** Wait for a second person to approve a batch for this total of it. */
const approve = async (
  run: Run,
  approval: Partial<ApprovalOptions>,
  input: PayoutBatchInput,
  {
    amount,
    currency,
    showsPayee,
  }: {
    readonly amount: string;
    readonly currency: string;
    readonly showsPayee?: true;
  },
): Promise<ApprovedBatch | undefined> => {
  const { file, hashes = [], overruled = [], rows, totals } = input;
  const batch = workflowInfo().workflowId;
  const rejected = overruled.map(rejectedText).join("; ");
  const counted =
    input.hashes && (showsPayee ?? patched("an approval shows the payees"))
      ? await countPayees.executeWithOptions({ summary: "Count whom it pays" }, [
          { batch, hashes, totals },
        ])
      : undefined;
  const shown = {
    ...(file !== undefined && { file }),
    ...accountOf(input),
    rows,
    ...totals,
    ...(counted && shownPayees(counted)),
    ...(rejected !== "" && { rejected }),
  };
  const payees = counted?.marks;
  // The hashes stand for the content of every row.
  const payload = { batch, ...input, from: undefined, ...(payees && { payees }) };
  const isApproved = await awaitApproval(run, approval, {
    amount,
    currency,
    payload,
    shown,
    overruled,
  });
  if (!isApproved) return undefined;
  const approvals = patched(PROVED) ? await proofsOf(input, payees) : undefined;
  return { ...(approvals && { approvals }), ...(payees && { payees }) };
};

/** Have the worker prove what was approved, to the activity that starts the rows. */
const proofsOf = (
  { hashes = [], overruled = [] }: PayoutBatchInput,
  payees: BatchPosition["payees"],
): Promise<ReadonlyArray<string>> =>
  localActivities.proveBatch({
    firstRunId: workflowInfo().firstExecutionRunId,
    chunks: hashes.map((hash, index) => ({
      chunk: index + 1,
      hash,
      payees: payees?.[index] ?? [],
      overruled: overruled.map(({ runId }) => runId),
    })),
  });

/**
 * Wait for a second person where a total is above a limit, whatever it is where a rejection was overruled.
 *
 * @param approval the limit of the batch; without one, that of the worker alone counts.
 * @returns what of it somebody has approved.
 */
const approveTotals = async (
  run: Run,
  input: PayoutBatchInput,
  approval: Partial<ApprovalOptions>,
): Promise<ApprovedBatch | undefined> => {
  const { above: limit } = approval;
  for (const [currency, amount] of Object.entries(input.totals)) {
    const compared = { amount, currency, ...(limit !== undefined && { limit }) };
    const toShow = await compareWithLimits(compared);
    if (toShow !== false) {
      return await approve(run, approval, input, {
        amount,
        currency,
        ...(toShow.showsPayee && { showsPayee: true }),
      });
    }
  }
  return undefined;
};

/**
 * Where the run before stopped that this one continues. It is believed of what was handled alone: whoever has a
 * worker can continue any run of its own as this one. What was approved is proved to the activity that starts rows.
 */
const positionOf = ({ from }: PayoutBatchInput): BatchPosition | undefined => {
  const { attempt, continuedFromExecutionRunId, cronSchedule } = workflowInfo();
  const isContinued =
    continuedFromExecutionRunId !== undefined && attempt === 1 && cronSchedule === undefined;
  return isContinued ? from : undefined;
};

/** Pay the rows of a batch: one payout run each, a window of them at a time. */
export async function payoutBatch(input: PayoutBatchInput): Promise<PayoutBatchResult> {
  const run = beginRun(accountOf(input));
  const batch = workflowInfo().workflowId;
  const startTime = workflowInfo().startTime.getTime();
  const from = input ? positionOf(input) : undefined;
  const limit = (input?.overruled ?? []).length > 0 ? NOTHING : (input?.approval ?? undefined);
  let at: BatchPosition = from ?? {
    chunk: 1,
    skip: 0,
    done: 0,
    started: 0,
    known: 0,
    conflicting: 0,
    since: startTime,
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

  /** @returns whether the worker did not want the approval of a second person first */
  const startChunk = async (): Promise<boolean> => {
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
            totals: input.totals,
            ...(at.paid && { paid: at.paid }),
            ...(limit && { approveAbove: limit.above }),
            ...(at.approvals && { approval: at.approvals[chunk - 1] }),
            ...(at.payees && { payees: at.payees[chunk - 1] ?? [] }),
            window: input.window ?? WINDOW,
            startedBy: startedBy() ?? "",
            // One that is claimed to be later would hide what was rejected before.
            since: Math.min(at.since ?? startTime, startTime),
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
        ...(rows.paid && { paid: rows.paid }),
      };
      return true;
    } catch (error) {
      if (failureOfActivity(error)?.type === "NeedsApproval") return false;
      const isByCommand = isStopped && !CancellationScope.current().consideredCancelled;
      // Stopped between two attempts: what they did is found when the chunk is read again.
      if (!isCancellation(error) || !isByCommand) throw error;
      return true;
    }
  };

  const isCancelled = async (): Promise<undefined> => {
    await condition(() => commands.cancelled !== undefined);
  };

  const approveAbove = async (approval: Partial<ApprovalOptions> = {}): Promise<void> => {
    const approved = await Promise.race([approveTotals(run, input, approval), isCancelled()]);
    if (approved) at = { ...at, ...approved };
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
      } else if (!(await startChunk())) {
        // It has none that can be proved, whatever was approved.
        stateOf(run).approvals.approved = undefined;
        await approveAbove(limit);
        stateOf(run).resume(step);
      }
    }
    return false;
  };

  const result = await run.execute(async (): Promise<PayoutBatchResult | undefined> => {
    // One that goes on was read before.
    if (from === undefined) await refuseUnreadable(run, input, readable);
    run.onFailure({ what: "close the chunks", how: closeRest });
    if (from === undefined) {
      stateOf(run).audit.addDecisions(STEP.awaitApproval, input.overruled ?? []);
      if (limit !== undefined) await approveAbove(limit);
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
