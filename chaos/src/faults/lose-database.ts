/*
 * Restores Temporal's database, the ledger or both to earlier copies, or has the ledger fail over.
 *
 * An older ledger says "not sent" of writes that were made. Workers must notice that without help, by the witness in the
 * tracker's heartbeat. So for a while nobody runs `recover`, and nothing may be sent in that time.
 */
import { readTracked } from "@durable-payments/activities";
import { trackerId } from "@durable-payments/protocol";
import { recover } from "@durable-payments/control/recovery";
import { cancel, pause, resume } from "@durable-payments/control/stopping";
import { rm } from "node:fs/promises";
import type { Campaign } from "../campaign.ts";
import { delay, until } from "../delay.ts";
import type { Environment } from "../environment/environment.ts";
import type { SupervisedProcess } from "../environment/supervised-process.ts";
import { replaceDatabase } from "../environment/temporal.ts";
import type { ChaosOptions } from "../options.ts";
import { setLimits } from "../people/limits.ts";
import { POLICY } from "../plan/planned-run.ts";
import { Random } from "../plan/random.ts";
import { ON_ITS_WAY_MS } from "../service/service.ts";
import { startForgotten } from "../start-runs.ts";

/** The share of the work after which the copy is taken, and restored. */
const COPY_AT = 0.3;
const RESTORE_AT = 0.6;

/** Trackers compare the ledger with its witness every few seconds, once their connections work again. */
const NOTICED_WITHIN_MS = 60_000;

/** How long nobody says `recover`, or `resume`. */
const STOPPED_MS = 6_000;

const ACTING = { by: "grace", how: "--by", reason: "the disk was restored" } as const;

/** Copies the ledger by the project's own backup, while it is in use. */
const copyLedger = async ({ environment, operate }: Campaign): Promise<number> => {
  const copy = `${environment.ledgerFile}.copy`;
  const sequence = await operate(async ({ ledger }) => {
    await rm(copy, { force: true });
    await ledger.backup(copy);
    return (await ledger.mark()).sequence;
  });
  return sequence ?? 0;
};

/**
 * Waits until the witness, the tracker's heartbeat, has seen more than a copy has. A heartbeat that is lost with its worker
 * returns only after 30 s, and a younger copy is not recognized.
 */
const untilWitnessed = async ({ operate, signal }: Campaign, sequence: number): Promise<void> => {
  const readSequence = () =>
    operate(
      async ({ account, client }) =>
        (await readTracked(client, trackerId(account)))?.mark?.sequence,
    );
  await until(async () => ((await readSequence()) ?? 0) > sequence, signal, 500);
};

/** Kills processes, and keeps them down. Returns a function that lets them start again. */
const keepDown = async (processes: ReadonlyArray<SupervisedProcess>): Promise<() => void> => {
  const releases = await Promise.all(processes.map((process) => process.keepDown()));
  return () => releases.forEach((release) => release());
};

const whenAllReady = ({ workers }: Environment, signal: AbortSignal): Promise<unknown> =>
  Promise.all(workers.map((worker) => worker.whenReady(signal)));

/** For a while after the workers run again nobody says `recover`, or `resume`: nothing may be sent meanwhile. */
const staySilent = async (
  { environment, quiet, signal }: Campaign,
  why: string,
  killedAt: number,
): Promise<void> => {
  await whenAllReady(environment, signal);
  await delay(STOPPED_MS, signal);
  quiet.push({ why, from: killedAt + ON_ITS_WAY_MS, to: Date.now() });
};

/** Stays silent, and expects that sends have stopped, although nobody has stopped them. */
const awaitStop = async (campaign: Campaign, killedAt: number): Promise<void> => {
  const { operate, unexpected } = campaign;
  await staySilent(campaign, "the ledger was restored", killedAt);
  const state = await operate(({ ledger }) => ledger.state());
  if (typeof state?.stopped === "string") return;
  unexpected.push("The ledger was restored, and sends did not stop until recover");
};

/** Records again each stop order since the older copy, which neither database need remember. */
const stopAgain = async ({ ended, operate }: Campaign, since: number): Promise<void> => {
  for (const [workflowId, at] of ended) {
    if (at < since) continue;
    await operate((operations) => cancel(operations, workflowId, ACTING));
  }
};

const recoverSince = ({ operate }: Campaign, since: Date): Promise<unknown> =>
  operate((operations) => recover(operations, { ...ACTING, since, isDryRun: false }));

/** Restores both databases by the procedure of docs/restore.md, which begins with a pause. */
const restoreBoth = async (campaign: Campaign, copiedAt: Date): Promise<void> => {
  const { environment, operate } = campaign;
  const { ledgerFile, temporal, workers } = environment;
  let killedAt = 0;
  let startWorkers = () => {};
  await environment.withoutTools(async () => {
    const downs = [keepDown([temporal.process]), keepDown(workers)] as const;
    const [startTemporal, start] = await Promise.all(downs);
    startWorkers = start;
    killedAt = Date.now();
    await temporal.restoreDatabase();
    await replaceDatabase(ledgerFile, `${ledgerFile}.copy`);
    // Temporal is still down.
    await environment.withLedger((opened) => pause(opened, undefined, ACTING));
    startTemporal();
  });
  await recoverSince(campaign, copiedAt);
  await startForgotten(campaign);
  await stopAgain(campaign, copiedAt.getTime());
  startWorkers();
  await staySilent(campaign, "the restore", killedAt);
  await operate((operations) => resume(operations, undefined, ACTING));
  campaign.restored.forgottenBefore = killedAt + ON_ITS_WAY_MS;
  campaign.restored.isTemporalRestored = true;
};

/** Restores Temporal's database to its copy, or to nothing if there is none. */
const restoreTemporal = async (campaign: Campaign, copiedAt: Date): Promise<void> => {
  const { temporal, workers } = campaign.environment;
  const release = await keepDown([temporal.process, ...workers]);
  await temporal.restoreDatabase();
  release();
  await recoverSince(campaign, copiedAt);
  await startForgotten(campaign);
  campaign.restored.isTemporalRestored = true;
};

/** Replaces the ledger by its copy, or deletes it. */
const restoreLedger = async (
  campaign: Campaign,
  copiedAt: Date,
  isDeleted: boolean,
): Promise<void> => {
  const { environment, signal } = campaign;
  const { ledgerFile, withoutTools, workers } = environment;
  let killedAt = 0;
  // Neither a worker nor a tool has it open.
  await withoutTools(async () => {
    const release = await keepDown(workers);
    killedAt = Date.now();
    await replaceDatabase(ledgerFile, isDeleted ? undefined : `${ledgerFile}.copy`);
    release();
    // Tools make no new ledger: they wait until a worker has.
    await whenAllReady(environment, signal);
  });
  await awaitStop(campaign, killedAt);
  // A ledger that was deleted has no limits, either.
  if (isDeleted) await setLimits(campaign, POLICY);
  await recoverSince(campaign, copiedAt);
  await startForgotten(campaign);
  campaign.restored.forgottenBefore = killedAt + ON_ITS_WAY_MS;
};

/** Promotes the standby of the ledger's server, which has every commit or lacks those of the last seconds. */
const failOver = async (campaign: Campaign): Promise<void> => {
  const { environment, operate, seed, signal, tally } = campaign;
  const lostMs = new Random(seed, "failover").pick([0, 1_000, 4_000]);
  const endedAt = (await environment.ledgerServer?.failOver(lostMs)) ?? 0;
  tally.add(lostMs === 0 ? "failover" : "failover with lost commits");
  const isStopped = async () => (await operate(({ ledger }) => ledger.state()))?.stopped !== null;
  const noticing = AbortSignal.any([signal, AbortSignal.timeout(NOTICED_WITHIN_MS)]);
  await until(isStopped, noticing);
  await awaitStop(campaign, Date.now());
  await recoverSince(campaign, new Date(endedAt - lostMs));
  if (lostMs === 0) return;
  await startForgotten(campaign);
  campaign.restored.forgottenBefore = endedAt + ON_ITS_WAY_MS;
};

/** Restores Temporal's database, the ledger or both to earlier copies, or has the ledger fail over, while runs are under way. */
export const loseDatabase = async (
  campaign: Campaign,
  loss: NonNullable<ChaosOptions["restore"]> | "fail over",
): Promise<void> => {
  const { environment, seed, signal } = campaign;
  await until(() => campaign.workDone >= COPY_AT, signal);
  const copiedAt = new Date();
  const copyTemporal = () =>
    until(async () => {
      await environment.temporal.process.whenReady(signal);
      return environment.temporal.copyDatabase();
    }, signal);
  let sequence = 0;
  const copies = [
    ...(loss === "temporal" || loss === "both" ? [copyTemporal] : []),
    ...(loss === "ledger" || loss === "both"
      ? [async () => void (sequence = await copyLedger(campaign))]
      : []),
  ];
  const apart = new Random(seed, "copies");
  for (const copy of apart.chance(0.5) ? copies : copies.toReversed()) {
    await copy();
    if (loss === "both") await delay(apart.int(0, 4_000), signal);
  }
  await until(() => campaign.workDone >= RESTORE_AT, signal);
  if (loss === "ledger" || loss === "nothing") await untilWitnessed(campaign, sequence);
  if (signal.aborted) return;
  if (loss === "fail over") await failOver(campaign);
  else if (loss === "both") await restoreBoth(campaign, copiedAt);
  else if (loss.endsWith("temporal")) await restoreTemporal(campaign, copiedAt);
  else await restoreLedger(campaign, copiedAt, loss === "nothing");
};
