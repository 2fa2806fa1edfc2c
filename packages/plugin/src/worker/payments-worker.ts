import {
  makePaymentsActivities,
  type NotificationSettings,
  type PaymentsActivities,
  type QueueRates,
} from "@durable-payments/activities";
import { PaymentsClient } from "@durable-payments/api-core";
import { messageOf } from "@durable-payments/api-core/values";
import { Client } from "@temporalio/client";
import { NativeConnection, Runtime, type Worker, type WorkerOptions } from "@temporalio/worker";
import { Effect, Layer, ManagedRuntime } from "effect";
import { CannotStart } from "../cannot-start.ts";
import { keepRunning } from "../kept/keep-running.ts";
import { notifierOf, trackerOf } from "../kept/kept-workflows.ts";
import { type Limits, readLimitsOf, readNotifications } from "../settings/limits.ts";
import type { PaymentsSettings } from "../settings/payments-settings.ts";
import { readRates } from "../settings/rates.ts";
import { openAccount } from "./account.ts";
import { createCompanions } from "./companions.ts";
import { warnOfOtherHosts } from "./journal.ts";
import { runWorkers } from "./run-workers.ts";

/** What holds for all that a worker does. */
interface WorkerSettings {
  readonly rates: QueueRates;
  readonly limits: Limits;
  readonly notifications: NotificationSettings | undefined;
}

/** An activity of any type: the types differ, the run-time value does not. */
type AnyActivity = (...input: ReadonlyArray<unknown>) => Promise<unknown>;

const activityNames = (): ReadonlyArray<string> =>
  Object.keys(
    makePaymentsActivities(ManagedRuntime.make(Layer.effect(PaymentsClient, Effect.never))),
  );

/** A client as the worker itself would make one. */
const clientOf = ({ options }: Worker, connection: NativeConnection): Client => {
  const { dataConverter, identity, interceptors, namespace } = options;
  return new Client({
    connection,
    namespace,
    identity,
    interceptors: interceptors.client,
    ...(dataConverter && { dataConverter }),
  });
};

/** A user's worker, and what payments need beside it. */
export class PaymentsWorker {
  /** The activities of payments, by their types: each works while this worker runs. */
  readonly activities: Readonly<Record<string, AnyActivity>>;

  readonly #settings: PaymentsSettings;
  readonly #read: WorkerSettings;
  readonly #draining = new AbortController();
  /** Made before any of the workers polls. */
  #made: PaymentsActivities | undefined;

  /** @throws CannotStart for a wrong setting that is of no account */
  constructor(settings: PaymentsSettings) {
    this.#settings = settings;
    this.#read = {
      rates: readRates(settings),
      limits: readLimitsOf(settings),
      notifications: readNotifications(settings),
    };
    // A worker that is never run must hold nothing, and none can be given its activities later.
    this.activities = Object.fromEntries(
      activityNames().map((name) => [name, (...input) => this.#activity(name)(...input)]),
    );
  }

  /**
   * Run the worker with its companions until all have drained.
   *
   * @param worker that was created with `options`.
   * @param next runs it.
   * @throws the error of the one that failed first.
   */
  async run(worker: Worker, options: WorkerOptions, next: () => Promise<void>): Promise<void> {
    // One that a worker has opened for itself is closed as soon as that worker has drained.
    const own = options.connection === undefined ? await NativeConnection.connect() : undefined;
    try {
      await this.#runOn(own ?? worker.connection, worker, options, next);
    } finally {
      await own?.close();
    }
  }

  async #runOn(
    connection: NativeConnection | undefined,
    worker: Worker,
    options: WorkerOptions,
    next: () => Promise<void>,
  ): Promise<void> {
    if (connection === undefined) throw new CannotStart("The worker has no connection.");
    const client = clientOf(worker, connection);
    const account = await openAccount(this.#settings, client).catch((error: unknown) => {
      // The worker holds its connection, and who closes that next sees that error alone.
      Runtime.instance().logger.error(`The worker cannot start: ${messageOf(error)}`);
      throw error;
    });
    try {
      const { limits, notifications, rates } = this.#read;
      const draining = this.#draining.signal;
      const { journal, where } = account.opened;
      this.#made = makePaymentsActivities(account.runtime, {
        journal,
        ...limits,
        tracker: { draining },
        notifier: { draining, settings: notifications },
      });
      const { companions, failure } = await createCompanions({
        activities: this.#made,
        connection,
        options,
        rates,
        worker,
      });
      // What has been created ends only by being run.
      if (failure !== undefined) this.#draining.abort();
      const running = runWorkers(
        [
          { worker, run: next },
          ...companions.map((companion) => ({ worker: companion, run: () => companion.run() })),
        ],
        this.#draining,
      );
      const { taskQueue } = options;
      void keepRunning(client, trackerOf(account.options, taskQueue), draining);
      if (notifications) void keepRunning(client, notifierOf(taskQueue), draining);
      void warnOfOtherHosts(account.opened, client, taskQueue, draining);
      if (failure === undefined) {
        this.#settings.onReady?.({
          namespace: client.options.namespace,
          taskQueue,
          journal: where,
        });
      }
      await running;
      if (failure !== undefined) throw failure.reason;
    } finally {
      await account.close();
    }
  }

  #activity(name: string): AnyActivity {
    if (this.#made === undefined) throw new Error(`The worker of ${name} does not run.`);
    return Reflect.get(this.#made, name) as AnyActivity;
  }
}
