import {
  type Assumptions,
  type ClientOptions,
  PaymentsClient,
  type PaymentsClientShape,
} from "@durable-payments/client/effect";
import { messageOf } from "@durable-payments/client/values";
import { openTextSeal } from "@durable-payments/codec";
import {
  type Ledger,
  type LedgerPlace,
  LedgerUnavailable,
  openLedger,
  readLedgerPlace,
} from "@durable-payments/ledger";
import { clientHash } from "@durable-payments/protocol/account";
import type { Client } from "@temporalio/client";
import * as Effect from "effect/Effect";
import { connectionFailed, invalidInput } from "../../errors.ts";
import { listened, OPEN_WITHIN_MS } from "./shared.ts";
import type { Temporal, TemporalSettings } from "./temporal.ts";

/** Address of the ledger, by the settings. It needs no secret of the service. */
export interface LedgerSettings {
  /** A file named by the client if it is not set. */
  readonly ledger: string | undefined;
  /** Client id of the account with which the workers start. */
  readonly clientId: string | undefined;
  /** The folder of the workers' keys, if they have one. */
  readonly keyring?: string | undefined;
}

/** Turns an error of the ledger into a message for a person; returns any other error unchanged. */
export const asLedgerError = (error: unknown): unknown =>
  error instanceof LedgerUnavailable
    ? connectionFailed("ledgerUnavailable", `The ledger cannot be used: ${messageOf(error)}.`, {
        action: "doctor",
      })
    : error;

/** The reason if the ledger is silent. */
export const NO_ANSWER = "the database does not answer";

/** Returns the opened ledger; a ledger that opens too late is closed. */
const openedInTime = async (opening: Promise<Ledger>): Promise<Ledger> => {
  const late = Effect.asVoid(listened(OPEN_WITHIN_MS));
  const opened = await Effect.runPromise(
    Effect.raceFirst(
      Effect.promise(() => opening),
      late,
    ),
  );
  if (opened !== undefined) return opened;
  opening.then((ledger) => ledger.close()).catch(() => undefined);
  throw new LedgerUnavailable(NO_ANSWER);
};

/** Returns the place of the ledger. @throws InvalidInput if no ledger can be there. */
const placeOf = ({ clientId = "", ledger = "" }: LedgerSettings): LedgerPlace => {
  try {
    return readLedgerPlace(ledger, clientHash({ clientId }));
  } catch (error) {
    throw invalidInput(`${messageOf(error)}. Nothing was done.`);
  }
};

/**
 * Opens the ledger of the workers; the caller closes it. Only a worker, and the migration, create or migrate its tables:
 * an empty ledger would look as if nothing had been sent.
 *
 * @throws InvalidInput if its address is invalid; ConnectionFailed if there is none, or it cannot be used.
 */
export const openWorkersLedger = async (
  settings: LedgerSettings,
  onMigration?: (version: number) => void,
): Promise<Ledger> => {
  const { clientId = "", keyring, ledger = "" } = settings;
  try {
    if (ledger === "" && clientId === "") {
      throw new LedgerUnavailable(
        "neither the setting ledger nor the setting clientId is given here, so its address is unknown",
      );
    }
    const opening = openLedger(placeOf(settings), {
      ...(keyring !== undefined && { seal: openTextSeal(keyring) }),
      ...(onMigration && { onMigration }),
      isMigrated: onMigration !== undefined,
    });
    // A migration takes as long as it takes.
    return await (onMigration === undefined ? openedInTime(opening) : opening);
  } catch (error) {
    throw asLedgerError(error);
  }
};

/** An account with the service, as tools know it. */
export interface KnownAccount {
  /** Undefined for the unnamed account. */
  readonly name: string | undefined;
  /** Hash by `accountHash`, the key of rows of the ledger. */
  readonly hash: string;
}

/** Dependencies of an action: Temporal, the ledger, and the accounts of the settings. */
export interface Connected extends Temporal {
  readonly ledger: Ledger;
  readonly namespace: string;
  /** Base queue of the workers. */
  readonly taskQueue: string;
  /** Hash of the account that pays if none is named. */
  readonly account: string;
  /** All accounts of these settings, that one first. */
  readonly accounts: ReadonlyArray<KnownAccount>;
  /** Returns the assumptions about the service, as a worker of the account reads them; by default, of the one that pays. */
  readonly assumptionsOf: (account?: string) => Assumptions;
}

/** Returns the hash of a named account, or of the one that pays by default. @throws InvalidInput if it is unknown. */
export const accountNamed = (
  { accounts }: Pick<Connected, "accounts">,
  name: string | undefined,
): string => {
  const found = name === undefined ? accounts[0] : accounts.find((one) => one.name === name);
  if (found !== undefined) return found.hash;
  const names = accounts.flatMap((one) => one.name ?? []).join(", ");
  throw invalidInput(
    accounts.length === 0
      ? "No account is known here: give the setting clientId and the setting baseUrl. Nothing was done."
      : `The account ${name} is unknown. ${names === "" ? "The only account here has no name, so leave it out" : `Name one of these (account): ${names}`}. Nothing was done.`,
  );
};

/**
 * Dependencies of a stop order: the ledger, which each send reads, and Temporal if it answers. Without `client`, the run may
 * stay open, and sends nothing.
 */
export type Deciding = Pick<Connected, "ledger"> & { readonly client: Client | undefined };

/** The sources of a screen: each is present, or `whyNot` has the reason. */
export interface Sources {
  readonly temporal: Temporal | undefined;
  readonly ledger: Ledger | undefined;
  /** For a person; empty if both are present. */
  readonly whyNot: ReadonlyArray<string>;
}

/** Returns the ledger of sources. @throws ConnectionFailed with the reason if it cannot be read. */
export const ledgerOf = ({ ledger, whyNot }: Pick<Sources, "ledger" | "whyNot">): Ledger => {
  if (ledger !== undefined) return ledger;
  throw connectionFailed("ledgerUnavailable", whyNot.join(" "));
};

/** Addresses of Temporal and the ledger, and the accounts. */
export interface ConnectionSettings extends Pick<Connected, "assumptionsOf"> {
  /** @throws ConnectionFailed if its configuration is wrong. */
  readonly temporal: () => TemporalSettings;
  readonly ledger: LedgerSettings;
  /** The first is the unnamed account, if there is one. */
  readonly accounts: ReadonlyArray<KnownAccount>;
  /** A ledger that is open already, and stays open: of a test that reads it, too. */
  readonly kept?: Ledger | undefined;
}

/**
 * Calls the service once, without retries, for a quick answer. The options hold secrets of this program's Effect, so they go
 * to its client: the promise client, as it is published, has another Effect inside, which cannot read them.
 */
export const askOnce = <A, E>(
  options: ClientOptions,
  requestTimeoutMs: number,
  ask: (client: PaymentsClientShape) => Effect.Effect<A, E>,
): Promise<A> =>
  Effect.runPromise(
    Effect.flatMap(PaymentsClient, ask).pipe(
      Effect.provide(PaymentsClient.layer({ ...options, maxAttempts: 1, requestTimeoutMs })),
    ),
  );
