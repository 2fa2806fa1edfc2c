import { NoJournal, withJournal } from "@durable-payments/operations/connection";
import { invalidInput, refused } from "@durable-payments/operations/errors";
import { resumeSends } from "@durable-payments/operations/pause";
import {
  mayResume,
  recover,
  type RecoveredAccount,
  type RecoveryPhase,
} from "@durable-payments/operations/recovery";
import * as Result from "effect/Result";
import { EXIT_CODES } from "../exit-codes.ts";
import { canAsk, confirm } from "../output/confirm.ts";
import type { Output } from "../output/output.ts";
import { recoveryText } from "../output/recovery-text.ts";
import { visible } from "../output/visible.ts";
import { type Account, readAccounts, withTemporal } from "../settings.ts";

/** What `starter recover` is given. */
export interface RecoverFlags {
  readonly since: Date;
  readonly by: string;
  /** Lets sends go on without asking, where everything is clear. */
  readonly yes: boolean;
}

/** The account, as it is compared: with its journal opened for as long as `use` takes. */
const withAccount = async <A>(
  { journal, name, service }: Account,
  use: (account: RecoveredAccount) => Promise<A>,
): Promise<A> => {
  const whose = name === undefined ? "" : ` of the account ${name}`;
  const options = Result.getOrThrowWith(await service(), ({ message }) =>
    invalidInput(`The service must be asked what was made${whose}: ${message} Nothing was done.`),
  );
  try {
    return await withJournal(journal, (opened) => use({ opened, service: options }));
  } catch (error) {
    if (!(error instanceof NoJournal)) throw error;
    throw refused(
      `The journal${whose} cannot be read: ${error.message}. Run this where a worker runs, with its PAYMENTS_* settings. What was paused stays paused.`,
    );
  }
};

const withAccounts = async <A>(
  accounts: ReadonlyArray<Account>,
  use: (accounts: ReadonlyArray<RecoveredAccount>) => Promise<A>,
): Promise<A> => {
  const [first, ...others] = accounts;
  if (first === undefined) return use([]);
  return withAccount(first, (own) => withAccounts(others, (further) => use([own, ...further])));
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
  const [first, ...further] = await readAccounts();
  return withAccount(first, ({ opened, service }) =>
    withAccounts(further, (others) =>
      withTemporal(async (temporal) => {
        const onPhase = (phase: RecoveryPhase) => output.live(phaseText(phase));
        const recovery = await recover(temporal, opened, { by, since, service, others, onPhase });
        output.live(undefined);
        const mayRelease = mayResume(recovery);
        const mayAsk = mayRelease && !yes && !output.json && canAsk();
        if (mayAsk) output.say(recoveryText(visible(recovery), false));
        const isReleased = mayRelease && (yes || (mayAsk && (await confirm("Resume sends?"))));
        if (isReleased) await resumeSends(temporal, by);
        output.answer({ ...recovery, isReleased }, (shown) =>
          mayAsk
            ? `Sends ${isReleased ? "go on" : "stay paused"}.`
            : recoveryText(shown, isReleased),
        );
        return isReleased ? EXIT_CODES.done : EXIT_CODES.runFailed;
      }),
    ),
  );
};
