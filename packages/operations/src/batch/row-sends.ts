import { mayHaveCarried } from "@durable-payments/activities/recorded-send";
import type { Journal, RecordedSend } from "@durable-payments/journal";
import { type BatchRow, type PayoutInput, stepKinds } from "@durable-payments/protocol";

const PAYOUT = stepKinds.createPayout.sends;
const BENEFICIARY = stepKinds.createBeneficiary.sends;

/** What became of a row of which Temporal knows no run. */
export type RowSends =
  /** Nothing that may have been carried out. */
  | "none"
  | "paid"
  /** It was sent, and no answer is known. */
  | "inDoubt"
  /** Something else was sent under the row's id. */
  | "otherPayment";

/** What the journal has of a row of which Temporal knows no run. */
export interface RecordedRow {
  readonly sends: RowSends;
  /** What was paid under the row's id; empty where that is not known. */
  readonly payout_id: string;
}

/** The ids of beneficiaries that were made for a row. */
const madeFor = (sends: ReadonlyArray<RecordedSend>): ReadonlyArray<string> =>
  sends.flatMap(({ ids, operation }) =>
    operation === BENEFICIARY.operation && ids["beneficiary_id"] !== undefined
      ? [ids["beneficiary_id"]]
      : [],
  );

/** Whether a send may have been that of a row: of one that a person amended only the first one is. */
const isOfRow = (
  send: RecordedSend,
  input: PayoutInput,
  beneficiaries: ReadonlyArray<string>,
): boolean =>
  beneficiaries.length === 0
    ? mayHaveCarried(send, input.payout, { isWhole: false })
    : beneficiaries.some((beneficiary_id) =>
        mayHaveCarried(send, { ...input.payout, beneficiary_id }, { isWhole: true }),
      );

/** Read what the journal has of a row of which Temporal knows no run. */
export const sendsOfRow = async (
  journal: Journal,
  { input, workflowId }: BatchRow,
): Promise<RecordedRow> => {
  const sends = await journal.find({ workflowId });
  const payouts = sends.filter(({ operation }) => operation === PAYOUT.operation);
  const made = payouts.find(({ outcome }) => outcome === "carriedOut");
  const payout_id = made?.ids["payout_id"] ?? "";
  if (payouts.length === 0) return { sends: "none", payout_id };
  const beneficiaries = "beneficiary_id" in input ? [input.beneficiary_id] : madeFor(sends);
  if (!payouts.some((send) => isOfRow(send, input, beneficiaries))) {
    return { sends: "otherPayment", payout_id };
  }
  if (made !== undefined) return { sends: "paid", payout_id };
  const isInDoubt = payouts.some(({ outcome }) => outcome !== "notCarriedOut");
  return { sends: isInDoubt ? "inDoubt" : "none", payout_id };
};
