import type { Ledger } from "@durable-payments/ledger";
import type { TrackerActivities } from "@durable-payments/protocol/tracker";
import type { WaitActivities } from "@durable-payments/protocol/waits";
import {
  makeNotifierActivities,
  type NotifierActivities,
} from "./notifications/notifier-activities.ts";
import type { NotificationSettings } from "./notifications/settings.ts";
import { makeReadActivities, type ReadActivities } from "./reads.ts";
import { accountOf, type PaymentsRuntime } from "./run-operation.ts";
import { makeTrackerActivities } from "./tracker/track.ts";
import { makeWaitActivities, type WaitsBy } from "./waits/wait-activities.ts";
import { makeWorkerCheckActivities, type WorkerCheckActivities } from "./worker-check.ts";

/** Every activity of a worker but those of operations of your own, by activity type. */
export type PaymentsActivities = ReadActivities &
  WaitActivities &
  TrackerActivities &
  NotifierActivities &
  WorkerCheckActivities;

/** What the activities take beside the client. */
export interface ActivitiesOptions {
  readonly ledger: Ledger;
  /** How waits go on; default `completed`. It changes no command of a workflow. */
  readonly waits?: WaitsBy;
  /** Where notifications go; without it they wait for a worker that knows. */
  readonly notifications?: NotificationSettings | undefined;
  /** Ends what lasts for hours when the worker is to drain, so that another worker takes it up at once. */
  readonly draining?: AbortSignal;
  /** Time of one activity of tracker and notifier in milliseconds; default 12 hours. */
  readonly turnMs?: number;
}

/**
 * Makes the activities of a worker for one account. Make one runtime per account, and dispose of it when the worker has
 * drained. An account with a name has a queue, and so a worker, of its own: `accountQueue`.
 *
 * @param runtime has the client of the account.
 * @param options the ledger, and how long activities wait.
 * @returns every activity by its type, for `Worker.create`.
 * @example
 * ```ts
 * const runtime = ManagedRuntime.make(PaymentsClient.layer({ baseUrl, clientId, apiKey }));
 * const ledger = await openLedger(readLedgerPlace(process.env["PAYMENTS_LEDGER"], clientHash({ clientId })));
 * const activities = makePaymentsActivities(runtime, { ledger });
 * const worker = await Worker.create({ connection, taskQueue: "payments", activities });
 * ```
 */
export const makePaymentsActivities = (
  runtime: PaymentsRuntime,
  { draining, ledger, notifications, turnMs, waits = "completed" }: ActivitiesOptions,
): PaymentsActivities => {
  let hash: Promise<string> | undefined;
  const account = () => (hash ??= accountOf(runtime));
  return {
    ...makeReadActivities(runtime),
    ...makeWaitActivities({ runtime, ledger, account, waits }),
    ...makeTrackerActivities({
      runtime,
      ledger,
      account,
      settle: async () => {},
      draining,
      turnMs,
    }),
    ...makeNotifierActivities({ ledger, settings: notifications, draining, turnMs }),
    ...makeWorkerCheckActivities(runtime, ledger),
  };
};
