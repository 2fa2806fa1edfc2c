import { accountHash } from "@durable-payments/protocol/account";
import * as Result from "effect/Result";
import { type Check, ofAccount } from "./check.ts";
import { checkJournal, type DoctorSettings } from "./journal-checks.ts";
import { checkService } from "./service-checks.ts";
import { CONNECTION_CHECKS, checkTemporal } from "./temporal-checks.ts";
import type { KnownAccount } from "./worker-checks.ts";

/** What the doctor found. */
export interface Diagnosis {
  readonly isWell: boolean;
  /** Whether Temporal and its namespace can be used. */
  readonly isConnected: boolean;
  readonly checks: ReadonlyArray<Check>;
}

/**
 * Check each thing that must work: Temporal, its namespace, its search attributes and retention, that
 * workers answer, the tracker, the service, and the journal of sends, into which a lag of 0 is written.
 * Nothing is sent to the service but reads.
 *
 * @param settings of Temporal, the service and the journal; what is not known here is not checked.
 * @returns each check with what was found and what helps; it never rejects for what it finds.
 * @example
 * const { isWell, checks } = await diagnose(settings);
 * for (const { name, detail } of checks) console.log(name, detail);
 */
export const diagnose = async (settings: DoctorSettings): Promise<Diagnosis> => {
  const accounts = [settings, ...(settings.others ?? [])];
  const known = accounts.map(({ name, service }): KnownAccount => ({
    name,
    hash: Result.isSuccess(service) ? accountHash(service.success) : undefined,
  }));
  const parts = [
    checkTemporal(settings.temporal, known),
    ...accounts.map(async (account) => {
      const { journal, name, service } = account;
      const found = await Promise.all([
        checkService(service, name),
        checkJournal({ temporal: settings.temporal, service, journal }),
      ]);
      return ofAccount(name, found.flat());
    }),
  ];
  const checks = (await Promise.all(parts)).flat();
  const failed = checks.filter(({ status }) => status === "failed");
  return {
    isWell: failed.length === 0,
    isConnected: !failed.some(({ name }) => CONNECTION_CHECKS.includes(name)),
    checks,
  };
};
