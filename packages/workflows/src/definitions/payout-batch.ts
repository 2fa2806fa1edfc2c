import type { BatchActivities, EndingDecision, RunEndings } from "@durable-payments/activities";
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
import {
  BatchOrders,
  type BatchProgress,
  batchProgressQuery,
  type GivenOrder,
} from "../run/batch.ts";
import { beginRun, type Run } from "../run/run.ts";
import { type ApprovalOptions, awaitApproval, startedBy } from "../steps/approval.ts";

/** A bulk run that a person has rejected, and that somebody overruled to have rows of it paid after all. */
export interface OverruledBatch extends EndingDecision {
  /** The id of that bulk run. */
  readonly workflowId: string;
  /** Who started it. */
  readonly startedBy: string;
  readonly overruled: NonNullable<EndingDecision["overruled"]>;
}

/** A bulk run: its rows are kept in pages, `<workflow id>/page/<n>`, that were written before. */
export interface PayoutBatchInput {
  readonly pages: number;
  readonly rows: number;
  /** Sum of the amounts by currency, decimal strings. */
  readonly totals: Readonly<Record<string, string>>;
  /** Lets a second person approve a total above a limit, before any row is started. */
  readonly approval?: ApprovalOptions;
  /** What was rejected of its rows before: it waits for a second person whatever its total is. */
  readonly overruled?: ReadonlyArray<OverruledBatch>;
  /** Most runs that send at a time, default 100. */
  readonly window?: number;
  /** Where the run before stopped that this one continues. */
  readonly from?: BatchPosition;
}

/** How far a bulk run has come. */
export interface BatchPosition {
  /** The page to go on with. */
  readonly page: number;
  /** Rows of that page that were looked at. */
  readonly skip: number;
  readonly done: number;
  readonly started: number;
  readonly known: number;
  readonly conflicting: number;
  /** Rows that a person has rejected in another file meanwhile; mostly left out. */
  readonly rejected?: number;
  /** When the first run of this bulk run began, in milliseconds since 1970. */
  readonly since?: number;
  readonly paused?: GivenOrder;
  readonly cancelled?: GivenOrder;
}

/** What became of the rows: the counts of {@link BatchProgress}, and how their runs ended. */
export interface PayoutBatchResult extends RunEndings {
  readonly rows: number;
  readonly started: number;
  readonly known: number;
  readonly conflicting: number;
  /** Rows that a person has rejected in another file meanwhile; mostly left out. */
  readonly rejected?: number;
  /** Rows that were not started, since the bulk run was cancelled. */
  readonly notStarted: number;
}

const WINDOW = 100;

/** About seven events a page. */
const PAGES_IN_A_RUN = 100;

// On the workflow's own queue: they call Temporal, and do not use up the service's rate.
const { awaitPayoutRuns, closePages, startPayoutRuns } = proxyActivities<BatchActivities>({
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
  run.audit.addDecisions("awaitApproval", overruled);
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

/** Pays the rows of a bulk file: one payout run each, a window of them at a time. */
export async function payoutBatch(input: PayoutBatchInput): Promise<PayoutBatchResult> {
  const run = beginRun();
  const batch = workflowInfo().workflowId;
  let at: BatchPosition = input.from ?? {
    page: 1,
    skip: 0,
    done: 0,
    started: 0,
    known: 0,
    conflicting: 0,
    since: workflowInfo().startTime.getTime(),
  };
  let starting = new CancellationScope();
  let isStopped = false;
  const orders = new BatchOrders(run, at, () => {
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
      ...orders.given,
    };
  });
  orders.listen();

  const closeRest = () => closePages({ batch, from: at.page, to: input.pages });

  const startPage = async (): Promise<void> => {
    starting = new CancellationScope();
    isStopped = false;
    const { page, skip, started } = at;
    try {
      const rows = await starting.run(() =>
        startPayoutRuns.executeWithOptions({ summary: `Start the rows of page ${page}` }, [
          {
            batch,
            page,
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
        page: rows.isWhole ? page + 1 : page,
        skip: rows.isWhole ? 0 : rows.rows,
        done: at.done + rows.rows - skip,
        started: started + rows.started,
        known: at.known + rows.known,
        conflicting: at.conflicting + rows.conflicting,
        ...(rejected > 0 && { rejected }),
      };
    } catch (error) {
      const isByOrder = isStopped && !CancellationScope.current().consideredCancelled;
      // Stopped between two attempts: what they did is found when the page is looked at again.
      if (!isCancellation(error) || !isByOrder) throw error;
    }
  };

  /** @returns whether there is more for the run that continues this one */
  const startPages = async (step: string): Promise<boolean> => {
    const first = at.page;
    while (at.page <= input.pages && orders.cancelled === undefined) {
      if (orders.paused) {
        run.waiting(step, `paused by ${orders.paused.by}`);
        await condition(() => !orders.paused || orders.cancelled !== undefined);
      } else if (at.page - first >= PAGES_IN_A_RUN || workflowInfo().continueAsNewSuggested) {
        return true;
      } else {
        await startPage();
      }
    }
    return false;
  };

  const result = await run.conduct(async (): Promise<PayoutBatchResult | undefined> => {
    run.onFailure({ what: "close the pages", how: closeRest });
    if (input.from === undefined) {
      const isCancelled = condition(() => orders.cancelled !== undefined);
      await Promise.race([approve(run, input), isCancelled]);
    }
    const note = `starting ${input.rows} payouts`;
    if (await run.step("startPayouts", note, startPages)) return undefined;
    orders.isPast = true;
    if (orders.cancelled) await closeRest();
    const { conflicting, done, known, rejected, started } = at;
    const endings = await run.step("awaitPayouts", "waiting for the runs to end", (step) => {
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
    from: { ...at, ...orders.given },
  });
}
