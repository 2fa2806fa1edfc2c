import type { Ledger, Limits } from "@durable-payments/ledger";
import { UNDO, type UndoCall, type WriteAnswer } from "@durable-payments/protocol/calls";
import { accountHash } from "@durable-payments/protocol/account";
import { parsing } from "./inputs.ts";
import type { LongActivityOptions } from "./long-activity.ts";
import {
  makeNotifierActivities,
  type NotifierOptions,
} from "./notifications/notifier-activities.ts";
import { makeReadActivities, makeWorkerCheckActivities } from "./reads.ts";
import { optionsOf, type PaymentsRuntime } from "./run-operation.ts";
import { makeBatchActivities } from "./start-rows.ts";
import { makeTrackerActivities, type TrackerOptions } from "./tracker/track.ts";
import { makeWaitActivities, type WaitsBy } from "./waits.ts";
import { makeWriteActivities, type WriteActivity } from "./write/activity.ts";
import { type WriteName, writeNames } from "./write/operation.ts";
import type { OwnOperations } from "./write/own-operations.ts";

/** One activity per write of the contract, by the operation's own name, and `undo`. */
type ContractWriteActivities = {
  readonly [Name in WriteName]: WriteActivity;
} & { readonly undo: (call: UndoCall) => Promise<WriteAnswer> };

/** Every activity of a worker, except operations of your own, by activity type. */
export type PaymentsActivities = ReturnType<typeof makePaymentsActivities>;

/** Options of the activities, in addition to the client. */
export interface ActivitiesOptions {
  readonly ledger: Ledger;
  /** Hash of the account that the ledger has its writes under, in a preview. Default: that of the client. */
  readonly account?: string;
  /** Base queue of the worker, which notifications name. */
  readonly taskQueue: string;
  /** Operations of your own, by activity type. */
  readonly operations?: OwnOperations;
  /** The worker's own limits: they only tighten those of the account. */
  readonly limits?: Limits;
  /** How waits continue; default `completed`. It changes no command of a workflow. */
  readonly waits?: WaitsBy;
  readonly tracker?: LongActivityOptions & Pick<TrackerOptions, "hints">;
  /** Without these settings, notifications wait for a worker that has them. */
  readonly notifier?: Omit<NotifierOptions, "ledger" | "taskQueue">;
}

/**
 * Makes the activities of a worker for one account. Make one runtime per account, and dispose of it when the worker has
 * drained. A named account has its own queue (`accountQueue`), and so its own worker.
 *
 * @param runtime has the client of the account.
 * @param options the ledger, and how long activities wait.
 * @returns every activity by its type, for `Worker.create`.
 * @throws Error if an operation of your own has the name of another activity: its function would be called in its place.
 * @example
 * ```ts
 * const runtime = ManagedRuntime.make(PaymentsClient.layer({ baseUrl, clientId, apiKey }));
 * const ledger = await openLedger(readLedgerPlace(process.env["PAYMENTS_LEDGER"], clientHash({ clientId })));
 * const activities = makePaymentsActivities(runtime, { ledger, taskQueue: "payments" });
 * const worker = await Worker.create({ connection, taskQueue: "payments", activities });
 * ```
 */
export const makePaymentsActivities = (
  runtime: PaymentsRuntime,
  {
    account: given,
    ledger,
    limits,
    notifier,
    operations = {},
    taskQueue,
    tracker,
    waits = "completed",
  }: ActivitiesOptions,
) => {
  let hash: Promise<string> | undefined;
  const account = () => (hash ??= optionsOf(runtime).then((of) => given ?? accountHash(of)));
  const writes = makeWriteActivities({ account, runtime, ledger, operations, limits });
  const others = {
    ...makeReadActivities(runtime),
    ...makeWaitActivities({ runtime, ledger, account, waits }),
    ...makeBatchActivities({ ledger, runtime, taskQueue }),
    ...makeTrackerActivities({
      runtime,
      ledger,
      account,
      operations: writes.settled,
      settle: writes.settle,
      ...tracker,
    }),
    ...makeNotifierActivities({ ledger, taskQueue, ...notifier }),
    ...makeWorkerCheckActivities(runtime, ledger),
  };
  const ours: ReadonlyArray<string> = [...writeNames, UNDO, ...Object.keys(others)];
  const taken = Object.keys(operations).filter((name) => ours.includes(name));
  if (taken.length > 0)
    throw new Error(
      `The payments' own activities already have the names of these operations: ${taken.join(", ")}. Rename them.`,
    );
  // The writes have each write of the contract, and your own operations.
  const activities = { ...others, ...(writes.activities as ContractWriteActivities) };
  return parsing(activities, (type) => type in writes.activities);
};
