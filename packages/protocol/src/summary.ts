import { isRecord } from "@durable-payments/api-core/values";
import { textAt } from "./values.ts";
import { WORKFLOW } from "./workflow-types.ts";

type Input = Readonly<Record<string, unknown>>;

const payoutSummary = (input: Input): string | undefined => {
  const [amount, currency] = ["amount", "currency"].map((name) => textAt(input["payout"], name));
  if (amount === undefined || currency === undefined) return undefined;
  const id = textAt(input, "beneficiary_id");
  const to = id === undefined ? "a new beneficiary" : `the beneficiary ${id}`;
  return `Pay ${amount} ${currency.toUpperCase()} to ${to}`;
};

const onboardingSummary = (input: Input): string | undefined => {
  const limit = textAt(input["card"], "card_limit");
  if (limit === undefined) return undefined;
  const id = textAt(input, "card_holder_id");
  const whom = id === undefined ? "a new cardholder" : `the cardholder ${id}`;
  return `Issue a card with ${limit} USD to ${whom}`;
};

/** Word what a run is to do, for a person; undefined for a workflow whose input is not known. */
export const summaryOfInput = (workflowType: string, input: unknown): string | undefined => {
  if (!isRecord(input)) return undefined;
  if (workflowType === WORKFLOW.payout) return payoutSummary(input);
  return workflowType === WORKFLOW.onboardCardholder ? onboardingSummary(input) : undefined;
};
