import type { Check } from "./check.ts";
import { checkJournal, type DoctorSettings } from "./journal-checks.ts";
import { checkService } from "./service-checks.ts";
import { CONNECTION_CHECKS, checkTemporal } from "./temporal-checks.ts";

/** What the doctor found. */
export interface Diagnosis {
  readonly isWell: boolean;
  /** Whether Temporal and its namespace can be used. */
  readonly isConnected: boolean;
  readonly checks: ReadonlyArray<Check>;
}

/** Check each thing that must work: Temporal, workers, the service, the journal of sends. */
export const examine = async (settings: DoctorSettings): Promise<Diagnosis> => {
  const parts = [
    checkTemporal(settings.temporal),
    checkService(settings.service),
    checkJournal(settings),
  ];
  const checks = (await Promise.all(parts)).flat();
  const failed = checks.filter(({ status }) => status === "failed");
  return {
    isWell: failed.length === 0,
    isConnected: !failed.some(({ name }) => CONNECTION_CHECKS.includes(name)),
    checks,
  };
};
