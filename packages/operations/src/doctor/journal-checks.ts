import { pollingHosts } from "@durable-payments/activities/queue-pollers";
import {
  type Journal,
  JournalUnavailable,
  type KeyEcho,
  type ListName,
} from "@durable-payments/journal";
import { findUnrecordedRun } from "@durable-payments/activities/unrecorded-run";
import { stepKinds } from "@durable-payments/protocol";
import { accountHash } from "@durable-payments/protocol/account";
import * as Result from "effect/Result";
import {
  type JournalSettings,
  NoJournal,
  type OpenedJournal,
  withJournal,
} from "../connection/journal.ts";
import type { ServiceSettings, TemporalSettings } from "../connection/settings.ts";
import { withTemporal } from "../connection/temporal.ts";
import { ConnectionFailed } from "../errors.ts";
import { type Check, failed, ok, skipped, warning } from "./check.ts";

/** What the doctor checks of an account. */
export interface AccountToCheck {
  /** Its name, where it has one. */
  readonly name?: string;
  readonly service: ServiceSettings;
  readonly journal: JournalSettings;
}

/** What the doctor checks. */
export interface DoctorSettings extends AccountToCheck {
  /** Further accounts of the same workers. */
  readonly others?: ReadonlyArray<AccountToCheck>;
  /** Throws ConnectionFailed where the configuration of Temporal is wrong. */
  readonly temporal: () => TemporalSettings;
}

const JOURNAL = "journal of sends";
const LAG = "lag of lists";
const ECHO = "keys in answers";

const SERVER = "Let them share PostgreSQL: PAYMENTS_JOURNAL=postgres://… for every worker.";

/** The hosts whose workers poll, where Temporal can be reached. */
const hosts = async (temporal: () => TemporalSettings): Promise<ReadonlyArray<string>> => {
  try {
    return await withTemporal(temporal(), ({ client, settings }) =>
      pollingHosts(client, settings.taskQueue),
    );
  } catch (error) {
    if (error instanceof ConnectionFailed) return [];
    throw error;
  }
};

const checkPlace = async (
  { place, where }: OpenedJournal,
  temporal: () => TemporalSettings,
): Promise<Check> => {
  if (place._tag !== "File") return ok(JOURNAL, where);
  const polling = await hosts(temporal);
  return polling.length > 1
    ? warning(
        JOURNAL,
        `${where}, and workers poll from ${polling.length} hosts, ${polling.join(", ")}: none of them knows what another has sent`,
        SERVER,
      )
    : warning(
        JOURNAL,
        `${where}, and is lost with it`,
        "Keep a copy of it off this host, or use PostgreSQL: docs/disaster-recovery.md.",
      );
};

/** Check that the journal has what the account's runs have sent, where Temporal can be reached. */
const checkRecords = async (
  { journal, where }: OpenedJournal,
  { service, temporal }: Pick<DoctorSettings, "service" | "temporal">,
): Promise<Check | undefined> => {
  if (Result.isFailure(service)) return undefined;
  try {
    const run = await withTemporal(temporal(), ({ client }) =>
      findUnrecordedRun(client, journal, accountHash(service.success)),
    );
    return run === undefined
      ? undefined
      : warning(
          JOURNAL,
          `${where}, and has nothing of the run ${run}, which has sent: it has lost its records, or is not the one that the workers write`,
          "Put that one back, or name it by PAYMENTS_JOURNAL. Where it is lost: docs/disaster-recovery.md.",
        );
  } catch (error) {
    if (error instanceof ConnectionFailed) return undefined;
    throw error;
  }
};

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

const LISTS: ReadonlyArray<ListName> = ["listPayouts", "listCardholders"];

/**
 * Check how far the lists were seen to lag, against what is assumed of them.
 *
 * @param journal that remembers the longest lag of each list.
 * @param listLagSeconds what is assumed.
 * @returns the check, failed where a list lagged longer.
 */
export const checkLag = async (
  journal: Pick<Journal, "listLag">,
  listLagSeconds: number,
): Promise<Check> => {
  const lags = await Promise.all(
    LISTS.map(async (list) => ({ list, lag: await journal.listLag(list) })),
  );
  const seen = lags.map(({ lag, list }) => `${list} ${seconds(lag)}`).join(", ");
  const detail = `longest seen: ${seen}; listLagSeconds is ${listLagSeconds}`;
  return lags.every(({ lag }) => lag <= listLagSeconds * 1000)
    ? ok(LAG, detail)
    : warning(
        LAG,
        `${detail}, and is exceeded: reconciliations wait for as long as was seen`,
        "Set listLagSeconds in PAYMENTS_ASSUMPTIONS above what was seen.",
      );
};

/**
 * Word whether the service shows the keys that we send.
 *
 * @param echo how many answers of `createPayout` had our key, another one, or none.
 * @returns one line for a person.
 */
export const describeEcho = ({ none, other, same }: KeyEcho): string =>
  same + other + none === 0
    ? "no answer of createPayout yet"
    : `answers of createPayout: our own key in ${same}, another in ${other}, none in ${none}`;

const UNUSABLE = "Until it can be used nothing is sent, and runs wait.";

const withoutJournal = (journal: Check): ReadonlyArray<Check> => [
  journal,
  ...[LAG, ECHO].map((name) => skipped(name, "not known without the journal")),
];

const checkOpened = async (
  opened: OpenedJournal,
  { service: settings, temporal }: Pick<DoctorSettings, "service" | "temporal">,
): Promise<ReadonlyArray<Check>> => {
  const { journal } = opened;
  try {
    // The longest lag is kept: this writes, and changes nothing.
    await journal.noteListLag("listPayouts", 0);
  } catch (error) {
    if (!(error instanceof JournalUnavailable)) throw error;
    return withoutJournal(
      failed(JOURNAL, `${opened.where}, and nothing can be written: ${error.message}`, UNUSABLE),
    );
  }
  return [
    (await checkRecords(opened, { service: settings, temporal })) ??
      (await checkPlace(opened, temporal)),
    Result.isSuccess(settings)
      ? await checkLag(journal, settings.success.assumptions.listLagSeconds)
      : skipped(LAG, "not checked: the settings are wrong"),
    ok(ECHO, describeEcho(await journal.keyEcho(stepKinds.createPayout.sends.operation))),
  ];
};

/** Check the journal that the workers of the account write. */
export const checkJournal = async (settings: DoctorSettings): Promise<ReadonlyArray<Check>> => {
  try {
    return await withJournal(settings.journal, (opened) => checkOpened(opened, settings));
  } catch (error) {
    if (!(error instanceof NoJournal)) throw error;
    const journal = error.isFault
      ? failed(JOURNAL, error.message, UNUSABLE)
      : warning(
          JOURNAL,
          `not checked: ${error.message}`,
          "Run this where a worker runs, with the worker's PAYMENTS_* settings.",
        );
    return withoutJournal(journal);
  }
};
