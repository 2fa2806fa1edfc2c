import type { OperationName } from "@durable-payments/api-core";
import { type OwnSend, type PayoutInput, sendingOf } from "@durable-payments/protocol";
import { canonicalJson } from "./canonical-json.ts";

/** An input that a run is going to send. */
export interface PlannedRequest {
  /** An operation of the payment service, or `send/NAME` of one of your own. */
  readonly operation: OperationName | OwnSend;
  /** Its input, as it will be sent. */
  readonly input: unknown;
  /** Fields that an earlier step of the run will fill in. */
  readonly later?: ReadonlyArray<string>;
  /** Where the input stands in the run's own input, to name the faults by: `beneficiary`. */
  readonly at: string;
}

/** List what a payout run is going to send. */
export const requestsOfPayout = (input: PayoutInput): ReadonlyArray<PlannedRequest> => {
  const payout = { operation: "createPayout", at: "payout" } as const;
  return "beneficiary" in input
    ? [
        { operation: "createBeneficiary", input: input.beneficiary, at: "beneficiary" } as const,
        { ...payout, input: input.payout, later: ["beneficiary_id"] },
      ]
    : [{ ...payout, input: { ...input.payout, beneficiary_id: input.beneficiary_id } }];
};

/** Find the request that fills in a field of a later one: the payee, or whose card it is. */
export const makerOf = (
  { later = [] }: Pick<PlannedRequest, "later">,
  requests: ReadonlyArray<Omit<PlannedRequest, "at">>,
): Pick<PlannedRequest, "input" | "operation"> | undefined => {
  const maker = requests.find(({ operation }) =>
    later.includes(sendingOf(operation)?.idField ?? ""),
  );
  return maker && { operation: maker.operation, input: maker.input };
};

/**
 * Write all that a request says but its key and what is filled in later: equal for what was planned and what
 * is sent.
 */
export const textOfRequest = ({
  input,
  later = [],
  operation,
}: Omit<PlannedRequest, "at">): string => {
  const said = Object.entries(input as object).flatMap(([field, value]: [string, unknown]) => {
    if (field === "unique_request_id" || later.includes(field)) return [];
    // As it is sent, however it is given.
    return [[field, field === "currency" ? String(value).toUpperCase() : value] as const];
  });
  return canonicalJson([operation, Object.fromEntries(said)]);
};
