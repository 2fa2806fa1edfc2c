import {
  type ClientOptions,
  clientOptionsFromEnvironment,
  type InvalidSettings,
  makePaymentsClient,
} from "@durable-payments/api-core";
import type { Pause } from "@durable-payments/protocol";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { NoJournal, type OpenedJournal, withJournal } from "../connection/journal.ts";
import { type Temporal, withTemporal } from "../connection/temporal.ts";
import { badInput, EXIT_CODES } from "../errors.ts";
import { canAsk, confirm } from "../output/confirm.ts";
import type { Output } from "../output/output.ts";
import { pauseSends, resumeSends } from "../runs/brake.ts";
import { unrecordedSince, type UnrecordedRun, writesSince } from "./compare.ts";
import { findByKeys, keysInDoubt, type LostSend, lookUp } from "./look-up.ts";
import { recoveryText } from "./recovery-text.ts";

/** A run that Temporal has lost, with what it had sent. */
export interface LostRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly verdict: LostSend["verdict"];
  readonly sends: ReadonlyArray<LostSend>;
  /** Whether Temporal has an ended run of this id, which is to be retried; else it is started again. */
  readonly hasEndedRun: boolean;
}

/** What a restored Temporal database, the journal and the service say together. */
export interface Recovery {
  readonly since: string;
  readonly journal: string;
  readonly pause: Pause;
  /** Runs that go on by themselves: before they send they are told what was sent. */
  readonly running: ReadonlyArray<string>;
  /** Runs that have ended, as both know. */
  readonly ended: ReadonlyArray<string>;
  readonly lost: ReadonlyArray<LostRun>;
  readonly unrecorded: ReadonlyArray<UnrecordedRun>;
  /** Whether nothing is left for a person to decide. */
  readonly isClear: boolean;
}

/** What `starter recover` is told. */
export interface RecoverFlags {
  readonly since: Date;
  readonly by: string;
  /** Lets sends go on without asking, where everything is clear. */
  readonly yes: boolean;
}

const serviceSettings = async (): Promise<ClientOptions> => {
  const settings: Result.Result<ClientOptions, InvalidSettings> = await Effect.runPromise(
    Effect.result(clientOptionsFromEnvironment),
  );
  if (Result.isSuccess(settings)) return settings.success;
  throw badInput(
    `The service must be asked what was made: ${settings.failure.message} Nothing was done.`,
  );
};

/** Why this command pauses sends; a pause for another reason is not its to end. */
const RECOVERING = "recovering what was sent since";

/** What of its steps is unclear makes the run unclear; made is what has something made. */
const verdictOf = (sends: ReadonlyArray<LostSend>): LostSend["verdict"] => {
  const verdicts = new Set(sends.map(({ verdict }) => verdict));
  if (verdicts.has("unclear")) return "unclear";
  return verdicts.has("made") ? "made" : "notMade";
};

const compare = async (
  temporal: Temporal,
  opened: OpenedJournal,
  options: ClientOptions,
  output: Output,
  since: Date,
): Promise<Omit<Recovery, "pause">> => {
  output.live("… reading the journal, and asking Temporal for each run");
  const writes = await writesSince(temporal, opened, since);
  const unrecorded = await unrecordedSince(temporal, opened, since);
  const client = makePaymentsClient(options);
  try {
    const gone = writes.filter(({ standing }) => standing === "lost");
    output.live(`… looking up what ${gone.length} runs made that Temporal does not know`);
    const byKey = await findByKeys(client, keysInDoubt(gone.flatMap(({ sends }) => sends)));
    const lost: Array<LostRun> = [];
    for (const { hasEndedRun, sends, workflowId } of gone) {
      const looked: Array<LostSend> = [];
      for (const send of sends) looked.push(await lookUp(client, send, byKey));
      const runId = sends.at(-1)?.runId ?? "";
      lost.push({ workflowId, runId, verdict: verdictOf(looked), sends: looked, hasEndedRun });
    }
    const idsOf = (wanted: string) =>
      writes.flatMap(({ standing, workflowId }) => (standing === wanted ? [workflowId] : []));
    return {
      since: since.toISOString(),
      journal: opened.where,
      running: idsOf("running"),
      ended: idsOf("ended"),
      lost,
      unrecorded,
      isClear: unrecorded.length === 0 && lost.every(({ verdict }) => verdict !== "unclear"),
    };
  } finally {
    await client.close();
  }
};

const withOpenedJournal = async <A>(use: (opened: OpenedJournal) => Promise<A>): Promise<A> => {
  try {
    return await withJournal(use);
  } catch (error) {
    if (!(error instanceof NoJournal)) throw error;
    throw badInput(
      `The journal cannot be read: ${error.message}. Run this where a worker runs, with its PAYMENTS_* settings. What was paused stays paused.`,
    );
  }
};

/**
 * Compares what was sent with what Temporal knows after its database was put back to an earlier
 * state. Sends are paused first, and go on only where everything is clear and that is confirmed,
 * and only where nobody had paused them before for a reason of their own.
 */
export const recover = async (
  output: Output,
  { by, since, yes }: RecoverFlags,
): Promise<number> => {
  const options = await serviceSettings();
  return withOpenedJournal((opened) =>
    withTemporal(async (temporal) => {
      const why = `${RECOVERING} ${since.toISOString()}`;
      const { pause } = await pauseSends(temporal, { by, why });
      const recovery: Recovery = {
        ...(await compare(temporal, opened, options, output, since)),
        pause,
      };
      output.live(undefined);
      const mayRelease = recovery.isClear && pause.why.startsWith(RECOVERING);
      const mayAsk = mayRelease && !yes && !output.json && canAsk();
      if (mayAsk) output.say(recoveryText(recovery, false));
      const isReleased = mayRelease && (yes || (mayAsk && (await confirm("Let sends go on?"))));
      if (isReleased) await resumeSends(temporal, by);
      output.answer({ ...recovery, isReleased }, () =>
        mayAsk
          ? `Sends ${isReleased ? "go on" : "stay paused"}.`
          : recoveryText(recovery, isReleased),
      );
      return isReleased ? EXIT_CODES.done : EXIT_CODES.runFailed;
    }),
  );
};
