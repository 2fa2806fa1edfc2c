import { makeSignInLeases, type PaymentsRuntime } from "@durable-payments/activities";
import {
  type ClientOptions,
  clientOptionsWithEnvironment,
  PaymentsClient,
  SignInLease,
} from "@durable-payments/api-core";
import type { Client } from "@temporalio/client";
import { Cause, Effect, Exit, Layer, ManagedRuntime, Result } from "effect";
import { CannotStart } from "../cannot-start.ts";
import { clientSettingsOf } from "../settings/known-settings.ts";
import type { AccountSettings } from "../settings/payments-settings.ts";
import { readSignInBudget } from "../settings/rates.ts";
import { type OpenedJournal, openJournalOf } from "./journal.ts";

/** An account with the service as a worker works for it: its client and its journal, opened. */
export interface Account {
  readonly options: ClientOptions;
  /** Holds the client, with its session and its connections. */
  readonly runtime: PaymentsRuntime;
  readonly opened: OpenedJournal;
  /** Closes connections and journal; what is under way ends. */
  readonly close: () => Promise<void>;
}

/** The value of an exit; its error is told as one that keeps a worker from its start. */
const orCannotStart = <A>(exit: Exit.Exit<A, { readonly message: string }>): A => {
  if (Exit.isSuccess(exit)) return exit.value;
  const failed = Cause.findError(exit.cause);
  throw Result.isSuccess(failed)
    ? new CannotStart(failed.success.message)
    : Cause.squash(exit.cause);
};

/** The checked settings of an account's client; the environment counts for what they leave out. */
const clientOptionsOf = async (settings: AccountSettings): Promise<ClientOptions> =>
  orCannotStart(
    await Effect.runPromiseExit(clientOptionsWithEnvironment(clientSettingsOf(settings))),
  );

/**
 * Open an account.
 *
 * @param temporal for the sign-ins, of which all workers share one budget.
 * @throws CannotStart where a setting is missing or wrong, or the journal cannot be written.
 */
export const openAccount = async (
  settings: AccountSettings,
  temporal: Client,
): Promise<Account> => {
  const options = await clientOptionsOf(settings);
  const leases = makeSignInLeases(temporal, options, readSignInBudget(settings));
  const opened = await openJournalOf(options, settings.journal);
  const runtime = ManagedRuntime.make(
    PaymentsClient.layer(options).pipe(Layer.provide(Layer.succeed(SignInLease, leases))),
  );
  return {
    options,
    runtime,
    opened,
    close: async () => {
      await runtime.dispose();
      await opened.journal.close();
    },
  };
};

/**
 * Check that an account can be opened: its settings, and that its journal can be written. Nothing stays open.
 *
 * @throws CannotStart
 */
export const checkAccount = async (settings: AccountSettings): Promise<void> => {
  readSignInBudget(settings);
  const { journal } = await openJournalOf(await clientOptionsOf(settings), settings.journal);
  await journal.close();
};
