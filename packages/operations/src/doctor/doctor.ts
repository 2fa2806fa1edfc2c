import { accountHash } from "@durable-payments/protocol/account";
import * as Result from "effect/Result";
import type { LedgerSettings } from "../connection/ledger.ts";
import { type KnownAccount, withSources } from "../connection/operations.ts";
import type { ServiceSettings, TemporalSettings } from "../connection/settings.ts";
import { ConnectionFailed } from "../errors.ts";
import { type Check, failed, skipped } from "./check.ts";
import { checkLedger } from "./ledger-checks.ts";
import { checkService } from "./service-checks.ts";
import { checkTemporal } from "./temporal-checks.ts";

/** What is examined. */
export interface DoctorSettings {
  readonly temporal: () => TemporalSettings;
  readonly ledger: LedgerSettings;
  /** The first is the one without a name, where there is such a one. */
  readonly accounts: ReadonlyArray<{
    readonly name: string | undefined;
    readonly service: ServiceSettings;
  }>;
}

/** What the doctor found. */
export interface Diagnosis {
  readonly isWell: boolean;
  readonly checks: ReadonlyArray<Check>;
}

const serviceChecks = async ({ accounts }: DoctorSettings): Promise<ReadonlyArray<Check>> => {
  const found = await Promise.all(
    accounts.map(async ({ name, service }) => {
      const title = name === undefined ? "" : `${name}: `;
      return (await checkService(service)).map((one) => ({ ...one, name: `${title}${one.name}` }));
    }),
  );
  return found.flat();
};

/** Checks of Temporal and the ledger, which need each other: the tracker is the ledger's witness. */
const innerChecks = async (settings: DoctorSettings): Promise<ReadonlyArray<Check>> => {
  const known = settings.accounts.flatMap(({ name, service }): ReadonlyArray<KnownAccount> =>
    Result.isSuccess(service) ? [{ name, hash: accountHash(service.success) }] : [],
  );
  try {
    return await withSources(settings, async ({ ledger, temporal, whyNot }) => {
      const remedy = "Correct the settings, or start what is missing.";
      const { checks, tracked } =
        temporal === undefined
          ? {
              checks: [
                failed("Temporal", whyNot.join(" "), remedy),
                skipped("worker", "not checked: Temporal cannot be reached"),
              ],
              tracked: [],
            }
          : await checkTemporal(temporal, known);
      const namespace = temporal?.settings.namespace;
      return ledger === undefined
        ? [...checks, failed("ledger", whyNot.join(" "), remedy)]
        : [...checks, ...(await checkLedger(ledger, namespace, known, tracked))];
    });
  } catch (error) {
    if (!(error instanceof ConnectionFailed)) throw error;
    return [failed("Temporal and ledger", error.message, error.next)];
  }
};

/**
 * Checks each thing that must work: service, sign-in, Temporal, workers, trackers, ledger, limits, notifications. It
 * changes nothing, and sends nothing to the service but a ping.
 *
 * @param settings of Temporal, the service and the ledger.
 * @returns each check with what was found and what helps; it does not reject for what it finds.
 */
export const diagnose = async (settings: DoctorSettings): Promise<Diagnosis> => {
  const checks = (await Promise.all([serviceChecks(settings), innerChecks(settings)])).flat();
  return { isWell: checks.every(({ status }) => status !== "failed"), checks };
};
