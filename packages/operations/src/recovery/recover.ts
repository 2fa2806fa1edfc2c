import { type ClientOptions, makePaymentsClient } from "@durable-payments/api-core";
import type { Pause } from "@durable-payments/protocol";
import { checkName, checkOptions } from "../acting.ts";
import type { OpenedJournal } from "../connection/journal.ts";
import type { Temporal } from "../connection/temporal.ts";
import { pauseSends } from "../pause/pause.ts";
import { checkSince } from "../since.ts";
import { askService, findByKeys, keysInDoubt, type LostSend } from "./ask-service.ts";
import { unrecordedSince, type UnrecordedRun, writesSince } from "./compare.ts";

/** A run that Temporal has lost, with what it had sent. */
export interface LostRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly reconciliation: LostSend["reconciliation"];
  readonly sends: ReadonlyArray<LostSend>;
  /** Whether Temporal has an ended run of this id, which is to be retried; else it is started again. */
  readonly hasEndedRun: boolean;
}

/** What a restored Temporal database, the journal and the service have together. */
export interface Recovery {
  readonly since: string;
  readonly journal: string;
  readonly pause: Pause;
  /** Runs that go on by themselves: before they send they read what was sent. */
  readonly running: ReadonlyArray<string>;
  /** Runs that have ended, as both know. */
  readonly ended: ReadonlyArray<string>;
  readonly lost: ReadonlyArray<LostRun>;
  readonly unrecorded: ReadonlyArray<UnrecordedRun>;
  /** Whether nothing is left for a person to decide. */
  readonly isClear: boolean;
}

/** An account of which it is compared what was sent. */
export interface RecoveredAccount {
  readonly opened: OpenedJournal;
  readonly service: ClientOptions;
}

/** How it is recovered. */
export interface RecoverOptions {
  /** The time of the backup that Temporal's database was put back to, or before. */
  readonly since: Date;
  /** Who pauses sends for it. */
  readonly by: string;
  readonly service: ClientOptions;
  /** Further accounts of the same workers: sends go on only for all of them. */
  readonly others?: ReadonlyArray<RecoveredAccount>;
  /** Is called when the next part of the work begins. */
  readonly onPhase?: (phase: RecoveryPhase) => void;
}

/** A part of the work. */
export type RecoveryPhase =
  | { readonly phase: "comparing" }
  | { readonly phase: "askingService"; readonly runs: number };

/** Why sends are paused by it; a pause for another reason is not its to end. */
const RECOVERING = "recovering what was sent since";

/** What of its steps is unclear makes the run unclear; made is what has something made. */
const reconciliationOf = (sends: ReadonlyArray<LostSend>): LostSend["reconciliation"] => {
  const all = new Set(sends.map(({ reconciliation }) => reconciliation));
  if (all.has("unclear")) return "unclear";
  return all.has("made") ? "made" : "notMade";
};

type Compared = Pick<Recovery, "running" | "ended" | "lost">;

/** Compare what one account has sent, and ask the service what became of what Temporal has lost. */
const compareAccount = async (
  temporal: Temporal,
  { opened, service }: RecoveredAccount,
  { onPhase = () => undefined, since }: RecoverOptions,
): Promise<Compared> => {
  const writes = await writesSince(temporal, opened, since);
  const client = makePaymentsClient(service);
  try {
    const gone = writes.filter(({ standing }) => standing === "lost");
    onPhase({ phase: "askingService", runs: gone.length });
    const byKey = await findByKeys(client, keysInDoubt(gone.flatMap(({ sends }) => sends)));
    const lost: Array<LostRun> = [];
    for (const { hasEndedRun, sends, workflowId } of gone) {
      const asked: Array<LostSend> = [];
      for (const send of sends) asked.push(await askService(client, send, byKey));
      const runId = sends.at(-1)?.runId ?? "";
      lost.push({
        workflowId,
        runId,
        reconciliation: reconciliationOf(asked),
        sends: asked,
        hasEndedRun,
      });
    }
    const idsOf = (wanted: string) =>
      writes.flatMap(({ standing, workflowId }) => (standing === wanted ? [workflowId] : []));
    return { running: idsOf("running"), ended: idsOf("ended"), lost };
  } finally {
    await client.close();
  }
};

const compare = async (
  temporal: Temporal,
  opened: OpenedJournal,
  options: RecoverOptions,
): Promise<Omit<Recovery, "pause">> => {
  const { onPhase = () => undefined, others = [], service, since } = options;
  const accounts = [{ opened, service }, ...others];
  onPhase({ phase: "comparing" });
  const journals = accounts.map((account) => account.opened.journal);
  const unrecorded = await unrecordedSince(temporal, journals, since);
  const compared: Array<Compared> = [];
  for (const account of accounts) compared.push(await compareAccount(temporal, account, options));
  const lost = compared.flatMap((account) => account.lost);
  return {
    since: since.toISOString(),
    journal: [...new Set(accounts.map((account) => account.opened.where))].join("; "),
    running: compared.flatMap(({ running }) => running),
    ended: compared.flatMap(({ ended }) => ended),
    lost,
    unrecorded,
    isClear:
      unrecorded.length === 0 && lost.every(({ reconciliation }) => reconciliation !== "unclear"),
  };
};

/**
 * Compare what was sent with what Temporal knows after its database was put back to an earlier state.
 * Sends are paused first, and stay so: whoever calls it resumes them where {@link mayResume}.
 *
 * @param temporal the connection of `withTemporal`.
 * @param opened the journal of the account; of further accounts, `others` of the options.
 * @param options since when Temporal may have lost runs, who pauses, and how the service is reached.
 * @returns the runs that go on, have ended, are lost, or sent what the journal does not have.
 * @throws InvalidInput where the name is empty, or `since` is no time.
 */
export const recover = async (
  temporal: Temporal,
  opened: OpenedJournal,
  options: RecoverOptions,
): Promise<Recovery> => {
  checkName(checkOptions(options).by);
  checkSince(options.since);
  const why = `${RECOVERING} ${options.since.toISOString()}`;
  const { pause } = await pauseSends(temporal, { by: options.by, why });
  return { ...(await compare(temporal, opened, options)), pause };
};

/**
 * Check whether sends may go on after a restore.
 *
 * @param recovery what `recover` returns.
 * @returns true where everything is clear, and nobody had paused the sends for another reason.
 */
export const mayResume = ({ isClear, pause }: Recovery): boolean =>
  isClear && pause.why.startsWith(RECOVERING);
