import { readTracked } from "@durable-payments/activities";
import { trackerId } from "@durable-payments/protocol";
import { recover } from "@durable-payments/operations/recovery";
import { rm } from "node:fs/promises";
import type { Campaign } from "../campaign.ts";
import { delay, until } from "../delay.ts";
import type { Environment } from "../environment/environment.ts";
import { replaceDatabase } from "../environment/temporal.ts";
import type { Loss } from "../options.ts";
import type { PlannedRun } from "../plan/planned-run.ts";
import { startForgotten } from "../start-runs.ts";

/** The share of the work after which the copy is taken, and restored. */
const COPY_AT = 0.3;
const RESTORE_AT = 0.6;

/** Requests under way when the workers were killed have arrived by then. */
const ON_ITS_WAY_MS = 3_500;

/** How long nobody says `recover`. */
const STOPPED_MS = 6_000;

const ACTING = { by: "grace", how: "--by", reason: "the disk was restored" } as const;

/** The effects of a restore. */
export interface LossResult {
  /** When what the ledger has forgotten had arrived, in milliseconds since 1970; undefined for Temporal's database. */
  readonly forgottenBefore: number | undefined;
  /** Whether sends stopped until `recover`, if the ledger was restored or lost. */
  readonly stopped: boolean;
}

/** Copies the ledger by the project's own backup, while it is in use. */
const copyLedger = async ({ environment, signal }: Campaign): Promise<number> => {
  const copy = `${environment.ledgerFile}.copy`;
  const sequence = await environment.operate(async ({ ledger }) => {
    await rm(copy, { force: true });
    await ledger.backup(copy);
    return (await ledger.mark()).sequence;
  }, signal);
  return sequence ?? 0;
};

/**
 * Waits until the witness, the tracker's heartbeat, has seen more than a copy has. A heartbeat that is lost with its worker
 * returns only after 30 s, and a younger copy is not recognized.
 */
const untilWitnessed = async (
  { environment, signal }: Campaign,
  sequence: number,
): Promise<void> => {
  const readSequence = () =>
    environment.operate(
      async ({ account, client }) =>
        (await readTracked(client, trackerId(account)))?.mark?.sequence,
      signal,
    );
  await until(async () => ((await readSequence()) ?? 0) > sequence, signal, 500);
};

/** Replaces the ledger's file, or removes it, while neither a worker nor a tool has it open. */
const replaceLedger = async (
  { ledgerFile, withoutTools, workers }: Environment,
  isLost: boolean,
): Promise<number> => {
  let killedAt = 0;
  await withoutTools(async () => {
    const releases = await Promise.all(workers.map((worker) => worker.keepDown()));
    killedAt = Date.now();
    await replaceDatabase(ledgerFile, isLost ? undefined : `${ledgerFile}.copy`);
    for (const release of releases) release();
    if (!isLost) return;
    // Tools make no new ledger: they wait until a worker has.
    await Promise.all(workers.map((worker) => worker.whenReady(AbortSignal.timeout(60_000))));
  });
  return killedAt;
};

const restoreTemporal = async ({ temporal, workers }: Environment): Promise<void> => {
  const releases = await Promise.all(
    [temporal.process, ...workers].map((process) => process.keepDown()),
  );
  await temporal.restoreDatabase();
  for (const release of releases) release();
};

/** Waits until the workers run again, and for a while nobody says `recover`: nothing may be sent meanwhile. */
const awaitStop = async (
  { environment, quiet, signal }: Campaign,
  killedAt: number,
): Promise<boolean> => {
  await Promise.all(environment.workers.map((worker) => worker.whenReady(signal)));
  await delay(STOPPED_MS, signal);
  const state = await environment.operate(({ ledger }) => ledger.state(), signal);
  quiet.push({ why: "the ledger was restored", from: killedAt + ON_ITS_WAY_MS, to: Date.now() });
  return typeof state?.stopped === "string";
};

/**
 * Restores Temporal's database or the ledger to an earlier copy, or deletes the ledger, while runs are under way.
 *
 * @returns undefined if the signal was aborted before.
 */
export const loseDatabase = async (
  campaign: Campaign,
  loss: Loss,
  started: ReadonlyArray<PlannedRun>,
): Promise<LossResult | undefined> => {
  const { environment, signal, workDone } = campaign;
  await until(() => workDone() >= COPY_AT, signal);
  const copiedAt = new Date();
  const isOfTemporal = loss === "restore temporal";
  const sequence = loss === "restore ledger" ? await copyLedger(campaign) : 0;
  if (isOfTemporal) {
    await until(async () => {
      await environment.temporal.process.whenReady(signal);
      return environment.temporal.copyDatabase();
    }, signal);
  }
  await until(() => workDone() >= RESTORE_AT, signal);
  if (!isOfTemporal) await untilWitnessed(campaign, sequence);
  if (signal.aborted) return undefined;
  let result: LossResult = { forgottenBefore: undefined, stopped: false };
  if (isOfTemporal) await restoreTemporal(environment);
  else {
    const killedAt = await replaceLedger(environment, loss === "lose ledger");
    const stopped = await awaitStop(campaign, killedAt);
    result = { forgottenBefore: killedAt + ON_ITS_WAY_MS, stopped };
  }
  await environment.operate(
    (operations) => recover(operations, { ...ACTING, since: copiedAt, isDryRun: false }),
    signal,
  );
  if (isOfTemporal) await startForgotten(campaign, started);
  return result;
};
