import { lookUp, messageOf } from "@durable-payments/client/values";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { type Ledger, PURPOSES, type WriteRow, type WriteName } from "@durable-payments/ledger";
import { atOnce, findRun, temporalReason } from "@durable-payments/protocol";
import { chunkId, failureTypes, type Nudge, nudgeSignal } from "@durable-payments/protocol/calls";
import { mayHaveOtherName } from "../write/believed.ts";
import { NotYet, StepFailed } from "../write/outcomes.ts";

/** Returns whether a workflow id has an open run. */
const isRunOpen = async (client: Client, workflowId: string): Promise<boolean> =>
  (await findRun(client, workflowId))?.state === "running";

/** Most rows of one sweep: the others wait for the next. */
const MOST_NUDGED = 500;

/** A later decision on the row has another version, and its run has not been notified of it. */
const noteNotified = ({ account, step, version, workflowId }: WriteRow, ledger: Ledger) =>
  ledger.transact({ account, workflowId, step }, ({ row }) =>
    row?.mustNotify && row.version === version ? { row: { ...row, mustNotify: false } } : {},
  );

/** Asks a run to check again. An ended run reads the ledger when it is started again. */
const nudge = async (client: Client, workflowId: string, of: Nudge): Promise<void> => {
  try {
    await client.workflow.getHandle(workflowId).signal(nudgeSignal, of);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
};

/**
 * Notifies runs and files of decisions, and runs whose write was found. A decision needs the ledger alone, which keeps what
 * is to be notified: so it holds while Temporal is down, and no signal is lost. A run that could not be notified does not
 * delay the others: it stays for the next sweep.
 *
 * @throws Error with the reason, after all possible notifications.
 */
export const notifyRuns = async (
  ledger: Ledger,
  client: Client,
  account?: string,
): Promise<void> => {
  const rows = await ledger.rows({
    ...(account !== undefined && { account }),
    mustNotify: true,
    limit: MOST_NUDGED,
  });
  let fault: string | undefined;
  const notify = async (workflowId: string, work: () => Promise<void>): Promise<void> =>
    work().catch((error: unknown) => {
      fault = `${workflowId} could not be notified: ${temporalReason(error)}`;
    });
  await atOnce([...Map.groupBy(rows, ({ ownerId }) => ownerId)], ([workflowId, ofRun]) =>
    notify(workflowId, async () => {
      // Then all steps of the run check again.
      const isOther = ofRun.some(mayHaveOtherName);
      await nudge(client, workflowId, isOther ? {} : { steps: ofRun.map(({ step }) => step) });
      for (const row of ofRun) await noteNotified(row, ledger);
    }),
  );
  for (const batch of await ledger.batches({ mustNotify: true })) {
    if (account !== undefined && batch.account !== account) continue;
    await notify(batch.id, async () => {
      for (let number = 1; number <= batch.chunks; number++)
        await nudge(client, chunkId(batch.id, number), {});
      await ledger.batchNotified(batch);
    });
  }
  if (fault !== undefined) throw new Error(fault);
};

/** Finishes files whose rows all have an outcome: the last one may have been retried after its workflow had ended. */
export const finishFiles = async (ledger: Ledger, account: string): Promise<void> => {
  for (const batch of await ledger.batches({ states: ["approved"] }))
    if (batch.account === account) await ledger.finishBatch(batch.id);
};

/** Closes waits whose run has ended: a terminated run does not end its wait. The waits of a lost run stay for the next run. */
export const closeLeftWaits = async (
  ledger: Ledger,
  account: string,
  client: Client,
): Promise<void> => {
  const left = await ledger.waits({ account, isOpen: true, isLeft: true, limit: MOST_NUDGED });
  const runs = [...Map.groupBy(left, ({ workflowId }) => workflowId)];
  const of = await atOnce(runs, async ([workflowId, waits]) => {
    // The ledger learns some seconds later that a run was started again.
    const isOpen = await isRunOpen(client, workflowId);
    return isOpen ? [] : waits.map((wait) => ({ ...wait, outcome: { outcome: "runEnded" } }));
  });
  await ledger.closeWaits(of.flat());
};

/** Dependencies of the janitor. */
export interface JanitorOptions {
  readonly ledger: Ledger;
  readonly account: string;
  readonly client: Client;
  readonly warn: (message: string) => void;
  /** Operations whose outcome a list or time can determine. A write that is safe to repeat waits for its next run. */
  readonly operations: ReadonlyArray<string>;
  /** Reconciles a row without its run: nothing is sent. Waits that it asks for come with a later sweep. */
  readonly settle: (name: WriteName) => Promise<void>;
}

/** An attempt that is under way changes its row within this time. */
const LEFT_FOR_MS = 60_000;

/** Most rows that one sweep reconciles; the next one continues after them. */
const MOST_SETTLED = 200;

/** Longest time until such a row is looked at again. */
const LONGEST_REST_MS = 15 * 60_000;

/** Reconciliations at once: they share the readings of the service's lists. */
const PARALLEL = 50;

/** Rows whose attempts are remembered: a longer backlog is gone through in turn. */
const MOST_REMEMBERED = 10_000;

const keyOf = ({ step, workflowId }: WriteRow): string => JSON.stringify([workflowId, step]);

/** The attempts to reconcile a row in the same version. */
interface Attempts {
  readonly version: number;
  readonly count: number;
  readonly dueAt: number;
}

/**
 * Reconciles writes of ended runs. A person sees only what the service cannot tell.
 *
 * Most unknown writes belong to open runs, which reconcile their own: after an outage there may be thousands. The ledger
 * knows whose runs have ended, or are lost. A run that a recovered ledger knows without its write is reconciled, too:
 * nothing else would ever say whether it was paid.
 *
 * Each row has its own attempts, with growing rests between them: a row that cannot be reconciled delays no other. A sweep
 * costs two statements of the ledger, and at most 200 reconciliations of each: a call of Temporal for each, and one
 * reading of a list for all. That is the same at 0.1, 10 and 100 payouts a second.
 */
export const janitor = ({ account, client, ledger, operations, settle, warn }: JanitorOptions) => {
  const attempts = new Map<string, Attempts>();
  /** The last row of the sweep before, if it did not reach the end. */
  let after: WriteRow | undefined;

  /** Whether a row is due; then another attempt of it begins. */
  const begins = (row: WriteRow, now: number): boolean => {
    const key = keyOf(row);
    const known = attempts.get(key);
    const { count, dueAt } = known?.version === row.version ? known : { count: 0, dueAt: now };
    if (now < dueAt) return false;
    attempts.delete(key);
    const restMs = Math.min(LONGEST_REST_MS, LEFT_FOR_MS * 2 ** count);
    attempts.set(key, { version: row.version, count: count + 1, dueAt: now + restMs });
    // The longest unseen is first.
    const [first = key] = attempts.keys();
    if (attempts.size > MOST_REMEMBERED) attempts.delete(first);
    return true;
  };

  /** Reconciles what is due. A row that cannot be reconciled does not delay the others: then the reason is thrown. */
  return async (): Promise<void> => {
    const { now } = await ledger.state();
    const rows = await ledger.rows({
      account,
      operations,
      // An answer of a person to an ended run needs no run: an id that was found is checked, and nothing is sent.
      states: ["sending", "unknown", "asking"],
      isRunEnded: true,
      changedBefore: now - LEFT_FOR_MS,
      after,
      limit: MOST_SETTLED,
    });
    after = rows.length < MOST_SETTLED ? undefined : rows.at(-1);
    let fault: string | undefined;
    const settleOne = async ({
      ownerId,
      step,
      workflowId,
    }: Omit<WriteName, "account"> & { readonly ownerId: string }) => {
      try {
        // The ledger learns some seconds later that a run was started again.
        if (!(await isRunOpen(client, ownerId))) await settle({ account, workflowId, step });
      } catch (error) {
        // Time helps: it is read again. A failed step was reconciled (refused, ended), or its outcome is not known yet.
        if (error instanceof NotYet) return;
        if (error instanceof StepFailed && error.type !== failureTypes.madeTwice) return;
        fault = `${workflowId} (${step}) could not be reconciled: ${messageOf(error)}`;
        warn(fault);
      }
    };
    const due = rows.filter((row) => begins(row, now));
    // From then on, each has a row.
    const forgotten = (await ledger.forgottenRuns(account, MOST_SETTLED)).flatMap(
      ({ type, workflowId }) => {
        const step = lookUp(PURPOSES, type);
        return step === undefined ? [] : [{ workflowId, ownerId: workflowId, step }];
      },
    );
    await atOnce([...due, ...forgotten], settleOne, PARALLEL);
    if (fault !== undefined) throw new Error(fault);
  };
};
