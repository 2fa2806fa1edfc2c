import {
  forAccounts,
  makePaymentsActivities,
  type NotificationSettings,
  type PaymentsActivities,
  type SigningSecrets,
} from "@durable-payments/activities";
import { PaymentsClient } from "@durable-payments/api-core";
import type { Tracing } from "@durable-payments/api-core/tracing";
import { messageOf } from "@durable-payments/api-core/values";
import { Client } from "@temporalio/client";
import {
  type ActivityInterceptorsFactory,
  NativeConnection,
  Runtime,
  type Worker,
  type WorkerOptions,
} from "@temporalio/worker";
import { Effect, Layer, ManagedRuntime } from "effect";
import { CannotStart } from "../cannot-start.ts";
import { journalCheck, pollersCheck, signInCheck, temporalCheck } from "../health/checks.ts";
import { type HealthAddress, readHealthAddress } from "../health/health-address.ts";
import { HealthListener, type Told } from "../health/health-listener.ts";
import { keepRunning } from "../kept/keep-running.ts";
import { notifierOf, trackerOf } from "../kept/kept-workflows.ts";
import {
  lookAtListLag,
  lookAtServiceCredentials,
  lookAtTemporalCredentials,
} from "../metrics/looks.ts";
import { lookAtRuns } from "../metrics/runs-look.ts";
import { type Accounts, inAccount } from "../settings/accounts.ts";
import { readLimitsOf, readNotifications } from "../settings/limits.ts";
import type { PaymentsSettings } from "../settings/payments-settings.ts";
import { readSigning } from "../settings/signing.ts";
import { readRates } from "../settings/rates.ts";
import type { WorkerProcess } from "../settings/worker-process.ts";
import { type Account, openAccount } from "./account.ts";
import { attemptSpans, isTraced, openWorkerTracing } from "./attempt-spans.ts";
import { createCompanions } from "./companions.ts";
import { warnOfLostJournal, warnOfOtherHosts } from "./journal.ts";
import { runWorkers } from "./run-workers.ts";

/** An activity of any type: the types differ, the run-time value does not. */
type AnyActivity = (...input: ReadonlyArray<unknown>) => Promise<unknown>;

/** What the user's own workflows bring. */
const ownOf = ({ inputs = {}, operations = {} }: PaymentsSettings) => ({ inputs, operations });

const activityNames = (settings: PaymentsSettings): ReadonlyArray<string> => {
  const none = ManagedRuntime.make(Layer.effect(PaymentsClient, Effect.never));
  try {
    return Object.keys(makePaymentsActivities(none, ownOf(settings)));
  } catch (error) {
    throw new CannotStart(messageOf(error));
  }
};

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

/** A worker that is run, and by what. */
interface Run {
  readonly client: Client;
  readonly connection: NativeConnection;
  readonly worker: Worker;
  readonly options: WorkerOptions;
  readonly next: () => Promise<void>;
  readonly health: HealthListener | undefined;
}

/** What a worker is ready by, and what its metrics are looked up from. */
const toldOf = (
  [worker, ...companions]: readonly [Worker, ...ReadonlyArray<Worker>],
  accounts: ReadonlyMap<string | undefined, Account>,
  client: Client,
  closed: AbortSignal,
): Told => ({
  checks: [
    pollersCheck([worker, ...companions]),
    temporalCheck(client, closed),
    ...[...accounts].flatMap(([name, account]) => [
      signInCheck(account, name, closed),
      journalCheck(account.opened.journal, name, closed),
    ]),
  ],
  looks: [
    lookAtRuns(client, worker.options.taskQueue),
    lookAtTemporalCredentials,
    ...[...accounts].flatMap(([name, { opened, options }]) => [
      lookAtListLag(opened.journal, options, name),
      lookAtServiceCredentials(options, name),
    ]),
  ],
});

const mapOf = <Key, A, B>(map: ReadonlyMap<Key, A>, make: (value: A, key: Key) => B): Map<Key, B> =>
  new Map([...map].map(([key, value]) => [key, make(value, key)]));

/** A user's worker, and what payments need beside it. */
export class PaymentsWorker {
  /** The activities of payments, by their types: each works while this worker runs. */
  readonly activities: Readonly<Record<string, AnyActivity>>;
  /** What traces the activities, where traces are exported. */
  readonly activityInterceptors: ReadonlyArray<ActivityInterceptorsFactory>;

  readonly #settings: PaymentsSettings;
  readonly #accounts: Accounts;
  readonly #process: WorkerProcess;
  readonly #notifications: NotificationSettings | undefined;
  readonly #healthAddress: HealthAddress | undefined;
  readonly #signingSecrets: SigningSecrets | undefined;
  readonly #draining = new AbortController();
  /** Made before any of the workers polls. */
  #made: PaymentsActivities | undefined;
  /** Open while the workers run. */
  #tracing: Tracing | undefined;

  /** @throws CannotStart for a wrong setting that is of no account */
  constructor(settings: PaymentsSettings, accounts: Accounts, process: WorkerProcess) {
    this.#settings = settings;
    this.#accounts = accounts;
    this.#process = process;
    this.#notifications = readNotifications(settings, process.environment);
    this.#signingSecrets = readSigning(settings, process.environment);
    this.#healthAddress = readHealthAddress(settings, process.environment);
    this.activityInterceptors = isTraced(process.environment)
      ? [attemptSpans(() => this.#tracing)]
      : [];
    // A worker that is never run must hold nothing, and none can be given its activities later.
    this.activities = Object.fromEntries(
      activityNames(settings).map((name) => [name, (...input) => this.#activity(name)(...input)]),
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
    const accounts = new Map<string | undefined, Account>();
    const health = this.#healthAddress && (await HealthListener.listen(this.#healthAddress));
    try {
      await this.#open(accounts, client).catch((error: unknown) => {
        // The worker holds its connection, and who closes that next sees that error alone.
        Runtime.instance().logger.error(`The worker cannot start: ${messageOf(error)}`);
        throw error;
      });
      await this.#runFor(accounts, { client, connection, health, next, options, worker });
    } finally {
      health?.close();
      for (const account of accounts.values()) await account.close();
      await this.#tracing?.close();
    }
  }

  async #open(into: Map<string | undefined, Account>, client: Client): Promise<void> {
    this.#tracing = await openWorkerTracing(this.#process.environment);
    for (const [name, settings] of this.#accounts) {
      into.set(name, await inAccount(name, () => openAccount(settings, client, this.#process)));
    }
  }

  async #runFor(
    accounts: ReadonlyMap<string | undefined, Account>,
    { client, connection, health, next, options, worker }: Run,
  ): Promise<void> {
    const draining = this.#draining.signal;
    const { environment, skipsTime } = this.#process;
    const notifications = this.#notifications;
    this.#made = forAccounts(
      mapOf(accounts, ({ opened, runtime, settings }, account) =>
        makePaymentsActivities(runtime, {
          ...(account !== undefined && { account }),
          journal: opened.journal,
          ...readLimitsOf(settings, environment),
          ...(this.#signingSecrets && { signingSecrets: this.#signingSecrets }),
          ...ownOf(this.#settings),
          tracker: { draining },
          notifier: { draining, settings: notifications },
        }),
      ),
    );
    const { companions, failure } = await createCompanions({
      activities: this.#made,
      connection,
      options,
      rates: mapOf(accounts, ({ settings }) => readRates(settings, environment)),
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
    health?.watch((closed) => toldOf([worker, ...companions], accounts, client, closed));
    const { taskQueue } = options;
    for (const [name, account] of skipsTime ? [] : accounts) {
      void keepRunning(client, trackerOf(account.options, taskQueue, name), draining);
      void warnOfLostJournal(account.opened, account.options, client, draining);
    }
    if (notifications) void keepRunning(client, notifierOf(taskQueue), draining);
    const opened = [...accounts.values()].map((account) => account.opened);
    const ofOneHost = opened.find(({ isOfOneHost }) => isOfOneHost);
    if (ofOneHost) void warnOfOtherHosts(ofOneHost, client, taskQueue, draining);
    if (failure === undefined) {
      this.#settings.onReady?.({
        namespace: client.options.namespace,
        taskQueue,
        journal: [...new Set(opened.map(({ where }) => where))].join("; "),
        ...(health && { health: health.address }),
      });
    }
    await running;
    if (failure !== undefined) throw failure.reason;
  }

  #activity(name: string): AnyActivity {
    if (this.#made === undefined) throw new Error(`The worker of ${name} does not run.`);
    return Reflect.get(this.#made, name) as AnyActivity;
  }
}
