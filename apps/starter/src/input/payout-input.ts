import type { Assumptions } from "@durable-payments/api-core";
import type { PayoutInput, PayoutOptions } from "@durable-payments/protocol";
import { WORKFLOW } from "@durable-payments/protocol";
import * as BigDecimal from "effect/BigDecimal";
import * as Option from "effect/Option";
import * as Schema from "effect/Schema";
import { assumptionsFromEnvironment, checkFile } from "./check-file.ts";
import { Amount, Duration, Id, isRecord, operationInput, PollInterval } from "./fields.ts";
import type { PlannedRun } from "./planned-run.ts";
import { idOfContent } from "./run-id.ts";

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

/** Makes the check of the content of payout files, once for many. */
export const makePayoutCheck = (): ((file: unknown) => PayoutInput) => {
  const known = shapes(assumptionsFromEnvironment());
  return (file) => checkFile(known, file);
};

/** Checks the content of a payout file. */
export const checkPayout = (file: unknown): PayoutInput => makePayoutCheck()(file);

/** The fields that are sent in capitals, however they are given. */
const CAPITALS: Readonly<Record<string, ReadonlyArray<string>>> = {
  payout: ["currency", "country"],
  beneficiary: ["account_currency", "bank_country", "country_code"],
};

/** The same payment however its codes are written: totals, limits and ids must not tell `eur` from `EUR`. */
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

/** The same amount however it is written: ids must not tell 51.0 from 51.00. */
const canonicalAmount = (amount: string): string =>
  Option.match(BigDecimal.fromString(amount), {
    onNone: () => amount,
    onSome: (decimal) => BigDecimal.format(BigDecimal.normalize(decimal)),
  });

/** What is to be run for a checked payout. */
export const plannedPayout = (given: PayoutInput): PlannedRun => {
  const input = inCapitals(given);
  const { amount, currency } = input.payout;
  const content = { ...input, payout: { ...input.payout, amount: canonicalAmount(amount) } };
  const to =
    "beneficiary_id" in input ? `the beneficiary ${input.beneficiary_id}` : "a new beneficiary";
  return {
    workflowType: WORKFLOW.payout,
    contentId: idOfContent(WORKFLOW.payout, content),
    input,
    summary: `Pay ${amount} ${currency} to ${to}`,
    currency,
  };
};

/** What is to be run for a payout file. */
export const planPayout = (file: unknown): PlannedRun => plannedPayout(checkPayout(file));
