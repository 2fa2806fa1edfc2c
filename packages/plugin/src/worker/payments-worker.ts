import {
  makePaymentsActivities,
  type NotificationSettings,
  readTracked,
} from "@durable-payments/activities";
import { PaymentsClient } from "@durable-payments/api-core";
import { messageOf } from "@durable-payments/api-core/values";
import type { Ledger } from "@durable-payments/ledger";
import { trackerId } from "@durable-payments/protocol";
import { clientHash } from "@durable-payments/protocol/account";
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
import { ledgerCheck, pollersCheck, signInCheck, temporalCheck } from "../health/checks.ts";
import { type HealthAddress, readHealthAddress } from "../health/health-address.ts";
import { HealthListener, type Told } from "../health/health-listener.ts";
import { keepRunning } from "../kept/keep-running.ts";
import { notifierOf, trackerOf } from "../kept/kept-workflows.ts";
import { lookAtLedger } from "../metrics/ledger-look.ts";
import { lookAtServiceCredentials, lookAtTemporalCredentials } from "../metrics/looks.ts";
import { type Accounts, inAccount } from "../settings/accounts.ts";
import type { PaymentsSettings } from "../settings/payments-settings.ts";
import {
  readActivitiesPerSecond,
  readBatchShare,
  readLimits,
  readNotifications,
} from "../settings/read-settings.ts";
import type { WorkerProcess } from "../settings/worker-process.ts";
import { type Account, openAccount } from "./account.ts";
import { attemptSpans, isTraced, openWorkerTracing } from "./attempt-spans.ts";
import { type AccountActivities, createCompanions } from "./companions.ts";
import { openLedgerOf, orCannotStart, warnOfOtherHosts } from "./ledger.ts";
import { runWorkers } from "./run-workers.ts";
import type { Tracing } from "./tracing.ts";

/** An activity of any type: the types differ, the run-time value does not. */
type AnyActivity = (...input: ReadonlyArray<unknown>) => Promise<unknown>;

type Opened = readonly [Account, ...ReadonlyArray<Account>];

/** Returns a client as the worker itself would make one. */
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

/** A user's worker, and what payments need beside it. */
export class PaymentsWorker {
  /** The activities of payments, by their types: each works while this worker runs. */
  readonly activities: Readonly<Record<string, AnyActivity>>;
  /** What traces the activities, where traces are exported. */
  readonly activityInterceptors: ReadonlyArray<ActivityInterceptorsFactory>;
  /** Activities of the base queue that all workers together begin in a second. */
  readonly perSecond: number | undefined;

  readonly #settings: PaymentsSettings;
  readonly #accounts: Accounts;
  readonly #process: WorkerProcess;
  readonly #notifications: NotificationSettings | undefined;
  readonly #healthAddress: HealthAddress | undefined;
  readonly #batchShare: number;
  readonly #draining = new AbortController();
  /** Those of the base queue, made before any of the workers polls. */
  #made: object | undefined;
  /** Open while the workers run. */
  #tracing: Tracing | undefined;

  /** @throws CannotStart for a wrong setting that belongs to no account. */
  constructor(settings: PaymentsSettings, accounts: Accounts, process: WorkerProcess) {
    const { environment } = process;
    this.#settings = settings;
    this.#accounts = accounts;
    this.#process = process;
    this.#notifications = readNotifications(settings, environment);
    this.#healthAddress = readHealthAddress(settings, environment);
    this.#batchShare = readBatchShare(settings, environment);
    const [first = settings] = accounts.values();
    this.perSecond = readActivitiesPerSecond(first, environment);
    this.activityInterceptors = isTraced(environment) ? [attemptSpans(() => this.#tracing)] : [];
    // A worker that is never run must hold nothing, and none can be given its activities later.
    this.activities = Object.fromEntries(
      this.#names().map((name) => [name, (...input) => this.#activity(name)(...input)]),
    );
  }

  /**
   * Runs the worker with its companions until all have drained.
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
    const accounts: Array<Account> = [];
    const health = this.#healthAddress && (await HealthListener.listen(this.#healthAddress));
    let ledger: Ledger | undefined;
    try {
      try {
        ledger = await this.#open(accounts, client);
      } catch (error) {
        // The worker holds its connection, and who closes that next sees that error alone.
        Runtime.instance().logger.error(`The worker cannot start: ${messageOf(error)}`);
        throw error;
      }
      const [first, ...others] = accounts;
      if (first === undefined) throw new CannotStart("The worker has no account.");
      await this.#runFor([first, ...others], ledger, {
        client,
        connection,
        health,
        next,
        options,
        worker,
      });
    } finally {
      health?.close();
      for (const { runtime } of accounts) await runtime.dispose();
      if (this.#process.ledger === undefined) await ledger?.close();
      await this.#tracing?.close();
    }
  }

  async #open(into: Array<Account>, client: Client): Promise<Ledger> {
    const { environment } = this.#process;
    this.#tracing = await openWorkerTracing(environment);
    for (const [name, settings] of this.#accounts) {
      into.push(await inAccount(name, () => openAccount(name, settings, environment)));
    }
    const [first] = into;
    if (first === undefined) throw new CannotStart("The worker has no account.");
    const given = this.#process.ledger;
    const ledger =
      given ?? (await openLedgerOf(this.#settings, clientHash(first.options), environment));
    try {
      await orCannotStart(() => this.#prepare(ledger, into, client));
    } catch (error) {
      if (given === undefined) await ledger.close();
      throw error;
    }
    return ledger;
  }

  /** Binds the ledger to the namespace, sets the limits, and holds it against what the trackers have seen of it. */
  async #prepare(ledger: Ledger, accounts: ReadonlyArray<Account>, client: Client): Promise<void> {
    await ledger.pin(client.options.namespace);
    for (const { hash, name, settings } of accounts) {
      await ledger.setLimits({ account: hash, ...readLimits(settings, this.#process.environment) });
      const { mark } = (await readTracked(client, trackerId(hash, name))) ?? {};
      if (mark !== undefined) await ledger.expect(mark);
    }
    const { stopped } = await ledger.state();
    if (stopped !== null) {
      Runtime.instance().logger.error(
        `Nothing is sent: the ledger was restored (${stopped}). Read what recover says of it, then run: ${this.#process.environment["STARTER_COMMAND"] || "npx durable-payments"} recover`,
      );
    }
  }

  async #runFor(
    accounts: Opened,
    ledger: Ledger,
    { client, connection, health, next, options, worker }: Run,
  ): Promise<void> {
    const draining = this.#draining.signal;
    const { environment, skipsTime } = this.#process;
    const { taskQueue } = options;
    const madeFor = (account: Account): AccountActivities => ({
      name: account.name,
      perSecond: readActivitiesPerSecond(account.settings, environment),
      activities: makePaymentsActivities(account.runtime, this.#activityOptions(ledger, taskQueue)),
    });
    const [first, ...others] = accounts;
    const made = [madeFor(first), ...others.map(madeFor)] as const;
    this.#made = made[0].activities;
    const { companions, failure } = await createCompanions({
      accounts: made,
      batchShare: this.#batchShare,
      connection,
      options,
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
    health?.watch((closed) =>
      this.#told([worker, ...companions], accounts, ledger, client, closed),
    );
    for (const { hash, name } of skipsTime ? [] : accounts) {
      void keepRunning(client, trackerOf(hash, taskQueue, name), draining);
    }
    if (this.#notifications) void keepRunning(client, notifierOf(taskQueue), draining);
    void warnOfOtherHosts(ledger, client, taskQueue, draining);
    if (failure === undefined) {
      this.#settings.onReady?.({
        namespace: client.options.namespace,
        taskQueue,
        ledger: ledger.place,
        ...(health && { health: health.address }),
      });
    }
    await running;
    if (failure !== undefined) throw failure.reason;
  }

  /** What a worker is ready by, and what its metrics are looked up from. */
  #told(
    workers: ReadonlyArray<Worker>,
    accounts: Opened,
    ledger: Ledger,
    client: Client,
    closed: AbortSignal,
  ): Told {
    return {
      checks: [
        pollersCheck(workers),
        temporalCheck(client, closed),
        ledgerCheck(ledger, closed),
        ...accounts.map((account) => signInCheck(account, account.name, closed)),
      ],
      looks: [
        lookAtLedger(ledger),
        lookAtTemporalCredentials,
        ...accounts.map(({ name, options }) => lookAtServiceCredentials(options, name)),
      ],
    };
  }

  #activityOptions(ledger: Ledger, taskQueue: string) {
    const { operations = {} } = this.#settings;
    const draining = this.#draining.signal;
    return {
      ledger,
      operations,
      taskQueue,
      waits: this.#process.skipsTime ? ("polled" as const) : ("completed" as const),
      tracker: { draining },
      notifier: { draining, settings: this.#notifications },
    };
  }

  #names(): ReadonlyArray<string> {
    const none = ManagedRuntime.make(Layer.effect(PaymentsClient, Effect.never));
    try {
      // Nothing is called of a ledger before an activity runs.
      return Object.keys(
        makePaymentsActivities(none, this.#activityOptions({} as Ledger, "payments")),
      );
    } catch (error) {
      throw new CannotStart(messageOf(error));
    }
  }

  #activity(name: string): AnyActivity {
    if (this.#made === undefined) throw new Error(`The worker of ${name} does not run.`);
    return Reflect.get(this.#made, name) as AnyActivity;
  }
}
