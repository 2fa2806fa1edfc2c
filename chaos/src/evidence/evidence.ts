import type { WriteRow } from "@durable-payments/ledger";
import type { Campaign } from "../campaign.ts";
import { payeeOf } from "../plan/plan-payouts.ts";
import type { Expected, PlannedRun } from "../plan/planned-run.ts";
import type { ServiceLedger } from "../service/service.ts";

/** How a run ended, as Temporal has it. */
export type Ending =
  | { readonly status: "open" | "missing" }
  | { readonly status: "completed"; readonly result: unknown }
  /** `type` is that of the root failure: `Refused`, `Ended`, `Cancelled`, `Terminated`, … */
  | { readonly status: "failed"; readonly type: string; readonly message: string };

/** The evidence of a campaign. */
export interface Evidence extends Pick<
  Campaign,
  "runs" | "ended" | "interrupted" | "approved" | "quiet" | "frozen" | "restored"
> {
  /** How the latest run of each workflow id ended. */
  readonly endings: ReadonlyMap<string, Ending>;
  /** The writes of the payments ledger. */
  readonly rows: ReadonlyArray<WriteRow>;
  readonly service: ServiceLedger;
  /** The marks of the payouts that came back: a run that saw that first has failed. */
  readonly back: ReadonlySet<string>;
  /** The amounts paid into the account, by currency. */
  readonly funds: Readonly<Record<string, string>>;
}

/** All that a campaign may find. */
export const VERDICTS = [
  "duplicate",
  "lost",
  "wrong",
  "stuck",
  "crash",
  "unapproved",
  "misreported",
] as const;

/** Something that is not as it must be. */
export interface Finding {
  /**
   * `duplicate`: the service did more than one run may do. `lost`: a run or the ledger reports what was not done, or
   * neither knows what was. `wrong`: a result, amount or balance differs; something was made after an end; a failure has
   * no cause. `stuck`: not ended, or not settled, when the time was up. `crash`: a worker, a tool or a server ended, or a
   * tool had an uncaught exception. `unapproved`: the service paid what a second person had to approve, and nobody did.
   * `misreported`: a report says something else of money than the service's books.
   */
  readonly verdict: (typeof VERDICTS)[number];
  /** The run's workflow id, or another subject. */
  readonly subject: string;
  readonly what: string;
}

/** Reports a finding. */
export type Find = (verdict: Finding["verdict"], subject: string, what: string) => void;

/** Whether a beneficiary is the one that a payment is for. */
export const isPayee = (
  { beneficiaries = [], currency }: Expected,
  { beneficiary_id, details }: ServiceLedger["beneficiaries"][number],
): boolean =>
  beneficiaries.some((one) =>
    "id" in one
      ? one.id === beneficiary_id
      : payeeOf(details) === one.payee && details["account_currency"] === currency,
  );

/** Returns the ids of what a write made at the service, by what no list shows. */
export const madeBy = (
  { operation, step }: Pick<WriteRow, "operation" | "step">,
  { makes }: PlannedRun,
  { beneficiaries, made }: ServiceLedger,
): ReadonlyArray<string> => {
  const expected = makes.find((one) => one.step === step) ?? makes[0];
  if (expected !== undefined && operation === "createBeneficiary") {
    return beneficiaries
      .filter((one) => isPayee(expected, one))
      .map(({ beneficiary_id }) => beneficiary_id);
  }
  const { mark } = expected ?? {};
  return made.filter((one) => one.operation === operation && one.mark === mark).map(({ id }) => id);
};
