import { type Journal, makeMemoryJournal } from "@durable-payments/journal";
import { type ApprovalActivities, makeApprovalActivities } from "./approval-activities.ts";
import { Approvals } from "./approvals.ts";
import { type BatchActivities, makeBatchActivities } from "./batch-activities.ts";
import { type ReadPause, makeTemporalPauseReader } from "./pause.ts";
import { type CheckActivities, makeCheckActivities } from "./check-activities.ts";
import { makeEarlierRunsReader, type ReadEarlierRuns } from "./earlier-runs.ts";
import { type EarlierSendActivities, makeEarlierSendActivities } from "./earlier-sends.ts";
import { IntentMarks } from "./intent-marks.ts";
import { type JournalActivities, makeJournalActivities } from "./journal-activities.ts";
import type { AmountLimits } from "./amount-limits.ts";
import {
  type ReconciliationActivities,
  makeReconciliationActivities,
} from "./reconciliation-activities.ts";
import { makeOperationActivities, type OperationActivities } from "./operation-activities.ts";
import { makeResetActivities, type ResetActivities } from "./reset-activities.ts";
import { checkAccount } from "./account-check.ts";
import { accountOf, type PaymentsRuntime } from "./run-operation.ts";
import { type ReadRunStart, readTemporalRunStart } from "./run-start.ts";
import { type ReadRunState, readTemporalRunState } from "./run-state.ts";
import { expectInputs, type OwnInputs } from "./own-inputs.ts";
import type { OwnOperations } from "./own-operation.ts";
import { makeOwnOperationActivities } from "./own-operation-activities.ts";
import { makePayeeActivities, type PayeeActivities, Payees } from "./payees.ts";
import { Signer } from "./signer.ts";
import type { SigningSecrets } from "./signing-secrets.ts";
import {
  makeTrackerActivities,
  type TrackerActivities,
  type TrackerOptions,
} from "./tracker-activity.ts";
import {
  makeNotifierActivities,
  type NotifierActivities,
  type NotifierOptions,
} from "./notifications/notifier-activities.ts";
import { makeWaitingActivities, type WaitingActivities } from "./waiting-activities.ts";
import { makeWorkerCheckActivities, type WorkerCheckActivities } from "./worker-check.ts";

/** Every activity of a worker, by activity type. */
export type PaymentsActivities = OperationActivities &
  WaitingActivities &
  ReconciliationActivities &
  CheckActivities &
  ApprovalActivities &
  PayeeActivities &
  ResetActivities &
  JournalActivities &
  EarlierSendActivities &
  BatchActivities &
  TrackerActivities &
  NotifierActivities &
  WorkerCheckActivities;

/** What the activities take beside the client. */
export interface ActivitiesOptions {
  /**
   * Name of the account, where the worker has several: they work for runs that were given it, and for no others;
   * default: for runs that were given none.
   */
  readonly account?: string;
  /** Reads whether sends are paused; default: while the task queue's pause workflow runs. */
  readonly readPause?: ReadPause;
  /** Reads whether the run of an activity is still open; default: as the Temporal server says. */
  readonly readRunState?: ReadRunState;
  /** Reads which other runs its workflow id has had; default: as the Temporal server lists them. */
  readonly readEarlierRuns?: ReadEarlierRuns;
  /** Reads how the run of an activity was started; default: as the Temporal server says. */
  readonly readRunStart?: ReadRunStart;
  /** Remembers what was sent; default: one that is lost with the process. */
  readonly journal?: Journal;
  /** The largest amount of one payout, card or withdrawal, by currency, and no other currency; default: any. */
  readonly maxAmounts?: AmountLimits;
  /**
   * A second person approves what is above these amounts, by currency, and all of any other currency: payouts,
   * cards, withdrawals, totals of batches; default: what the runs themselves say.
   */
  readonly approveAbove?: AmountLimits;
  /**
   * Secrets of the deployment by which approvals are proved, and runs marked by whom they create; default: approvals are
   * proved by the API key, and marks are plain hashes.
   */
  readonly signingSecrets?: SigningSecrets;
  /**
   * What the worker knows of the inputs of your own workflows, by workflow type: their first start can be checked by
   * it, and a retry amends them by it.
   */
  readonly inputs?: OwnInputs;
  /** Operations of your own that workflows send, by the names that `defineOperation` gives them. */
  readonly operations?: OwnOperations;
  /** How the tracker reads what runs wait for. */
  readonly tracker?: TrackerOptions;
  /** Whom the notifier tells of runs that need a person. */
  readonly notifier?: NotifierOptions;
}

/**
 * Make the activities of a worker. Make one runtime per worker, and dispose of it when the worker has
 * drained.
 *
 * @param runtime has the client of the account that the worker works for.
 * @param options the journal, limits, and what is asked before a send.
 * @returns every activity by its type, for `Worker.create`.
 * @example
 * ```ts
 * const runtime = ManagedRuntime.make(PaymentsClient.layer({ baseUrl, clientId, apiKey }));
 * const place = readJournalPlace(process.env["PAYMENTS_JOURNAL"], client);
 * const journal = await openJournal(place, client);
 * const activities = makePaymentsActivities(runtime, { journal, maxAmounts: { USD: "10000.00" } });
 * const worker = await Worker.create({ connection, taskQueue: "accounts-payable", activities });
 * ```
 */
export const makePaymentsActivities = (
  runtime: PaymentsRuntime,
  {
    account,
    readPause = makeTemporalPauseReader(),
    readRunState = readTemporalRunState,
    readEarlierRuns = makeEarlierRunsReader(() => accountOf(runtime)),
    readRunStart = readTemporalRunStart,
    journal = makeMemoryJournal(),
    maxAmounts,
    approveAbove,
    signingSecrets,
    inputs = {},
    operations = {},
    tracker = {},
    notifier = {},
  }: ActivitiesOptions = {},
): PaymentsActivities => {
  expectInputs(inputs);
  const marks = new IntentMarks(signingSecrets);
  const signer = new Signer(runtime, signingSecrets);
  const payees = new Payees(runtime, journal, signer);
  const approvals = new Approvals(signer, approveAbove, payees, readRunStart);
  const hash = () => accountOf(runtime);
  return checkAccount(
    { name: account, hash },
    {
      ...makeOperationActivities(runtime, {
        readPause,
        readRunState,
        readEarlierRuns,
        journal,
        maxAmounts,
        approvals,
        payees,
      }),
      ...makeWaitingActivities(runtime, readPause, journal),
      ...makeReconciliationActivities(runtime, journal, marks),
      ...makeCheckActivities(runtime, maxAmounts, approvals, marks, { inputs, operations }),
      ...makeApprovalActivities(approvals),
      ...makeTrackerActivities(runtime, tracker, account),
      ...makeNotifierActivities(notifier),
      ...makeWorkerCheckActivities(runtime, journal),
      ...makeResetActivities(inputs, journal),
      ...makeJournalActivities(journal),
      ...makeEarlierSendActivities(journal),
      ...makePayeeActivities(payees),
      ...makeOwnOperationActivities(runtime, operations, {
        readPause,
        readRunState,
        readEarlierRuns,
        journal,
      }),
      ...makeBatchActivities({ account: { name: account, hash }, approvals, payees }),
    },
  );
};
