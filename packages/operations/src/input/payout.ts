import { payoutStartAttributes } from "@durable-payments/activities/start-attributes";
import type { Assumptions } from "@durable-payments/api-core";
import type { PayoutInput, PayoutOptions } from "@durable-payments/protocol";
import { canonicalDecimal, isRecord } from "@durable-payments/api-core/values";
import { WORKFLOW } from "@durable-payments/protocol";
import * as Schema from "effect/Schema";
import { checkRunFile } from "./check-run-file.ts";
import { Amount, Duration, Id, operationInput, PollInterval } from "./fields.ts";
import { idOfContent, type PlannedRun } from "./planned-run.ts";
import { summaryOfInput } from "./summary.ts";

// Every option of the workflow stands here, and no other: the compiler sees to it.
const options = {
  onRefusal: Schema.optionalKey(Schema.Literals(["fail", "ask"])),
  onLostBeneficiary: Schema.optionalKey(Schema.Literals(["recreate", "ask"])),
  approval: Schema.optionalKey(Schema.Struct({ above: Amount })),
  completeWithin: Schema.optionalKey(Duration),
  pollInterval: Schema.optionalKey(PollInterval),
} satisfies Readonly<Record<keyof PayoutOptions, Schema.Top>>;

const shapes = (assumptions: Assumptions) => {
  const rest = {
    payout: operationInput("createPayout", assumptions, {
      beneficiary_id: "belongs beside payout, not into it",
      unique_request_id: "is made by the run: leave it out",
    }),
    options: Schema.optionalKey(Schema.Struct(options)),
  };
  return {
    id: { field: "beneficiary_id", schema: Schema.Struct({ beneficiary_id: Id, ...rest }) },
    body: {
      field: "beneficiary",
      schema: Schema.Struct({
        beneficiary: operationInput("createBeneficiary", assumptions, {}),
        ...rest,
      }),
    },
  };
};

/** Make the check of the inputs of payouts, once for many. */
export const makePayoutCheck = (assumptions: Assumptions): ((input: unknown) => PayoutInput) => {
  const known = shapes(assumptions);
  return (input) => checkRunFile(known, input);
};

/** The fields that are sent in capitals, however they are given. */
const CAPITALS: Readonly<Record<string, ReadonlyArray<string>>> = {
  payout: ["currency", "country"],
  beneficiary: ["account_currency", "bank_country", "country_code"],
};

/** The same payment however its codes are written: totals, limits and ids are the same for `eur` and `EUR`. */
const inCapitals = (input: PayoutInput): PayoutInput => {
  const parts = Object.entries(input).map(([part, value]: [string, unknown]) => [
    part,
    isRecord(value)
      ? Object.fromEntries(
          Object.entries(value).map(([name, text]) => [
            name,
            CAPITALS[part]?.includes(name) && typeof text === "string" ? text.toUpperCase() : text,
          ]),
        )
      : value,
  ]);
  // The same fields; some texts are in capitals.
  return Object.fromEntries(parts) as PayoutInput;
};

/** The same amount however it is written: the id is the same for 51.0 and 51.00. */
const canonicalAmount = (amount: string): string => canonicalDecimal(amount) ?? amount;

/** Plan the run of a checked payout. */
export const plannedPayout = (given: PayoutInput): PlannedRun<PayoutInput> => {
  const input = inCapitals(given);
  const { amount } = input.payout;
  const content = { ...input, payout: { ...input.payout, amount: canonicalAmount(amount) } };
  return {
    workflowType: WORKFLOW.payout,
    contentId: idOfContent(WORKFLOW.payout, content),
    input,
    summary: summaryOfInput(WORKFLOW.payout, input) ?? WORKFLOW.payout,
    searchAttributes: (workflowId, account) => payoutStartAttributes(workflowId, input, account),
  };
};

/**
 * Check the input of a payout, and plan its run. Nothing is sent.
 *
 * @param input `{beneficiary | beneficiary_id, payout, options?}`, with the service's own field names;
 *   amounts are decimal strings.
 * @param assumptions what is assumed of the service; `defaultAssumptions` of api-core.
 * @returns what `startRun` takes, with an id made from the content.
 * @throws InvalidInput that names every fault.
 * @example
 * const payout = {
 *   amount: "250.00",
 *   currency: "EUR",
 *   payout_reason: "Payment for goods",
 *   payout_reference: "Invoice 17",
 *   payment_date: "2026-12-01",
 *   is_payer: "Y",
 * };
 * const planned = planPayout({ beneficiary_id, payout }, defaultAssumptions);
 */
export const planPayout = (input: unknown, assumptions: Assumptions): PlannedRun =>
  plannedPayout(makePayoutCheck(assumptions)(input));
