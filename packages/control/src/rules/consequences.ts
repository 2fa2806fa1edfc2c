import type { WriteRow } from "@durable-payments/ledger";

/** Answers to a question about an outcome. */
export const CHOICES = ["found", "resend", "end"] as const;
export type Choice = (typeof CHOICES)[number];

const KEYED = "the service ignores a repeat of the same key, as long as it remembers it";

const second = (thing: string): string =>
  `creates a second ${thing} if the first attempt went through; it moves no money`;

/** Effect of a second send if the first one took effect. */
const SENT_TWICE: Readonly<Record<string, string>> = {
  createPayout: "pays twice if the first attempt went through. Check the bank first",
  createBeneficiary: second("beneficiary"),
  createCardholder: second("cardholder"),
  createCard: KEYED,
  withdrawFromCard: KEYED,
};

const moneyOf = ({ request: { amount, currency } }: WriteRow): string =>
  amount === null ? "" : ` ${currency} ${amount}`;

/**
 * Returns the effect of each possible answer, for a person; the money comes first.
 *
 * @param row the write in question.
 * @param isStopped whether a stop order holds for it: then nothing is sent again.
 * @returns a sentence for each answer.
 */
export const consequencesOf = (
  row: WriteRow,
  isStopped = false,
): Readonly<Partial<Record<Choice, string>>> => {
  const { doubt, operation } = row;
  const sent = doubt === 0 ? "" : " Requests already sent are not reversed.";
  const again =
    doubt === 0
      ? `sends${moneyOf(row)} again. We have no sign that an earlier attempt went through.`
      : `${SENT_TWICE[operation] ?? "does it twice if the first attempt went through"}.`;
  return {
    found: `FOUND: sends nothing. The run continues with the id that you give, after the service has confirmed it.`,
    ...(!isStopped && { resend: `RESEND: ${again}` }),
    end: `END: sends nothing more under this workflow id, not even by a retry.${sent}`,
  };
};

/** The effect of an approver's decision on the money. */
export const approvalConsequences = (row: WriteRow) => ({
  approve: `APPROVE: sends${moneyOf(row)} as shown.`,
  reject: "REJECT: sends nothing more under this workflow id, not even by a retry.",
});
