/**
 * The ledger of a worker: opened for its namespace, and compared with what the trackers last saw of it.
 *
 * A worker is created before it runs, and may never run. So its activities get a ledger that is opened later; and a copy
 * that was restored from a backup is recognized before anything is sent.
 */
import { readTracked } from "@durable-payments/activities";
import { messageOf } from "@durable-payments/client/values";
import { openTextSeal } from "@durable-payments/codec";
import {
  type Ledger,
  LedgerUnavailable,
  openLedger,
  readLedgerPlace,
} from "@durable-payments/ledger";
import { atOnce, listedRuns, trackerId, trackersOn } from "@durable-payments/protocol";
import { clientHash } from "@durable-payments/protocol/account";
import { watchedForMsOf } from "@durable-payments/protocol/settings";
import { type Client, isGrpcServiceError } from "@temporalio/client";
import { Runtime } from "@temporalio/worker";
import type { Account, Accounts } from "./accounts.ts";
import { CannotStart, type WorkerProcess, type WorkerSettings } from "./settings.ts";

/** Uses the ledger. @throws CannotStart if it cannot be used. */
export const withLedger = async <A>(work: () => Promise<A>): Promise<A> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    throw new CannotStart(`The ledger cannot be used: ${messageOf(error)}.`);
  }
};

/** Opens the ledger, and binds it to the namespace. */
export const openLedgerOf = async (
  settings: WorkerSettings,
  [first]: Accounts,
  namespace: string,
  given: Ledger | undefined,
  onMoved: (error: Error) => void,
): Promise<Ledger> =>
  withLedger(async () => {
    const seal = settings.keyring === undefined ? undefined : openTextSeal(settings.keyring);
    const place = () => readLedgerPlace(settings.ledger, clientHash(first.options));
    const onMigration = (version: number, found: number) => {
      const { logger } = Runtime.instance();
      if (found === 0) logger.info(`Creates the tables of the ledger, version ${version}`);
      else
        logger.warn(`Migrates the tables of the ledger to version ${version}, from ${version - 1}`);
    };
    const watchedForMs = watchedForMsOf(settings);
    const options = {
      ...(seal && { seal }),
      ...(watchedForMs !== undefined && { watchedForMs }),
      onMigration,
      onMoved,
    };
    const ledger = given ?? (await openLedger(place(), options));
    try {
      await ledger.pin(namespace);
      return ledger;
    } catch (error) {
      if (given === undefined) await ledger.close();
      throw error;
    }
  });

/** Returns a ledger whose methods are those of another one, once that is open. */
export const onceOpened = (opened: () => Ledger | undefined): Ledger =>
  // Reads each property of the open ledger.
  new Proxy({} as Ledger, {
    get: (_, name): unknown => {
      const ledger = opened();
      if (ledger === undefined) throw new LedgerUnavailable("the worker is not running");
      return Reflect.get(ledger, name);
    },
  });

/** The code of gRPC. */
const UNIMPLEMENTED = 12;

/**
 * Compares the ledger with the last sequence that the trackers saw: a restored ledger sends nothing. The tracker of an
 * account that this worker does not have may have seen the most.
 */
export const compareLedger = async (
  ledger: Ledger,
  accounts: ReadonlyArray<Pick<Account, "hash" | "name">>,
  taskQueue: string,
  client: Client,
  environment: WorkerProcess["environment"],
): Promise<void> => {
  // Visibility lags, and may know less.
  const trackers = new Set(accounts.map(({ hash, name }) => trackerId(hash, name)));
  try {
    for await (const { execution } of listedRuns(client, trackersOn(taskQueue)))
      trackers.add(execution?.workflowId ?? "");
  } catch (error) {
    const code: number | undefined = isGrpcServiceError(error) ? error.code : undefined;
    // A server that skips time lists no runs, and its ledger is never restored.
    if (code !== UNIMPLEMENTED) throw error;
  }
  const witnesses = await atOnce([...trackers], (id) => readTracked(client, id));
  for (const { mark } of witnesses.flatMap((tracked) => tracked ?? []))
    if (mark !== undefined) await ledger.expect(mark);
  const { stopped } = await ledger.state();
  if (stopped === null) return;
  Runtime.instance().logger.error(
    `Nothing is sent: the ledger was restored (${stopped}). To see what a recovery would do, run: ${environment["DURABLE_PAYMENTS_COMMAND"] || "npx durable-payments"} recover`,
  );
};
