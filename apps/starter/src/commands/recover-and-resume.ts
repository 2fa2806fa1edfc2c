import {
  NoJournal,
  type OpenedJournal,
  withJournal,
} from "@durable-payments/operations/connection";
import { invalidInput, refused } from "@durable-payments/operations/errors";
import { resumeSends } from "@durable-payments/operations/pause";
import { mayResume, recover, type RecoveryPhase } from "@durable-payments/operations/recovery";
import type { ClientOptions } from "@durable-payments/api-core";
import * as Result from "effect/Result";
import { EXIT_CODES } from "../exit-codes.ts";
import { canAsk, confirm } from "../output/confirm.ts";
import type { Output } from "../output/output.ts";
import { recoveryText } from "../output/recovery-text.ts";
import { visible } from "../output/visible.ts";
import { journalSettings, readServiceSettings, withTemporal } from "../settings.ts";

/** What `starter recover` is given. */
export interface RecoverFlags {
  readonly since: Date;
  readonly by: string;
  /** Lets sends go on without asking, where everything is clear. */
  readonly yes: boolean;
}

const serviceSettings = async (): Promise<ClientOptions> =>
  Result.getOrThrowWith(await readServiceSettings(), ({ message }) =>
    invalidInput(`The service must be asked what was made: ${message} Nothing was done.`),
  );

const withOpenedJournal = async <A>(use: (opened: OpenedJournal) => Promise<A>): Promise<A> => {
  try {
    return await withJournal(journalSettings(), use);
  } catch (error) {
    if (!(error instanceof NoJournal)) throw error;
    throw refused(
      `The journal cannot be read: ${error.message}. Run this where a worker runs, with its PAYMENTS_* settings. What was paused stays paused.`,
    );
  }
};

const phaseText = (phase: RecoveryPhase): string =>
  phase.phase === "comparing"
    ? "… reading the journal, and asking Temporal for each run"
    : `… asking the service what ${phase.runs} runs made that Temporal does not know`;

/**
 * Compare what was sent with what Temporal knows after its database was put back to an earlier state.
 * Sends go on only where everything is clear and that is confirmed, and only where nobody had paused
 * them before for another reason.
 */
export const recoverAndResume = async (
  output: Output,
  { by, since, yes }: RecoverFlags,
): Promise<number> => {
  const service = await serviceSettings();
  return withOpenedJournal((opened) =>
    withTemporal(async (temporal) => {
      const onPhase = (phase: RecoveryPhase) => output.live(phaseText(phase));
      const recovery = await recover(temporal, opened, { by, since, service, onPhase });
      output.live(undefined);
      const mayRelease = mayResume(recovery);
      const mayAsk = mayRelease && !yes && !output.json && canAsk();
      if (mayAsk) output.say(recoveryText(visible(recovery), false));
      const isReleased = mayRelease && (yes || (mayAsk && (await confirm("Resume sends?"))));
      if (isReleased) await resumeSends(temporal, by);
      output.answer({ ...recovery, isReleased }, (shown) =>
        mayAsk ? `Sends ${isReleased ? "go on" : "stay paused"}.` : recoveryText(shown, isReleased),
      );
      return isReleased ? EXIT_CODES.done : EXIT_CODES.runFailed;
    }),
  );
};
