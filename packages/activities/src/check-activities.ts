import { isAtLeast } from "@durable-payments/api-core/decimal";
import { type Card, type Fault, type OperationName, Refused } from "@durable-payments/api-core";
import { checkInput } from "@durable-payments/api-core/contract";
import { accountHash } from "@durable-payments/protocol/account";
import { Effect } from "effect";
import { toApplicationFailure } from "./failures.ts";
import { invalidRequest, type MaxAmounts, overLimit } from "./amount-limits.ts";
import { accountOf, type PaymentsRuntime, runInActivity } from "./run-operation.ts";
import { isCardRefused } from "./statuses.ts";

/** An input that a run is going to send. */
export interface PlannedRequest {
  readonly operation: OperationName;
  readonly input: unknown;
  /** Fields that an earlier step of the run will fill in. */
  readonly later?: ReadonlyArray<string>;
  /** Where the input stands in the run's own input, to name the faults by: `beneficiary`. */
  readonly at: string;
}

/** A card that was answered, with the key that was sent for it, where it is known. */
export interface AnsweredCard {
  readonly card: Card;
  readonly unique_request_id?: string;
  /** When given, the card is renamed so: the only operation that shows that it exists. */
  readonly card_name?: string;
}

/** Checks before the first and after the last send of a run. */
export interface CheckActivities {
  /**
   * Checks every input of a run before anything is sent; all faults are named at once.
   *
   * @returns the account of the worker that checked, as a hash: the run is pinned to it.
   */
  readonly checkRequests: (planned: ReadonlyArray<PlannedRequest>) => Promise<string>;
  /** The account of the worker, as a hash. */
  readonly readAccount: () => Promise<string>;
  /** Whether an amount is above a limit, exactly. */
  readonly isAbove: (compared: {
    readonly amount: string;
    readonly limit: string;
  }) => Promise<boolean>;
  /** Confirms that a card was issued, as far as the service shows it. */
  readonly confirmCard: (answered: AnsweredCard) => Promise<Card>;
}

/** Keys are letters, digits and dashes: a service that writes them otherwise means the same. */
const comparable = (key: string): string => key.trim().toLowerCase();

const named = (at: string, fault: Fault): Fault => ({
  field: fault.field === "" ? at : `${at}.${fault.field}`,
  problem: fault.problem,
});

/** The checking activities over a client. */
export const makeCheckActivities = (
  runtime: PaymentsRuntime,
  maxAmounts: MaxAmounts,
): CheckActivities => ({
  checkRequests: (planned) =>
    runInActivity(
      runtime,
      (client) => {
        const faults = planned.flatMap(({ at, input, later, operation }) =>
          [
            ...checkInput(operation, input, {
              assumptions: client.options.assumptions,
              later: later ?? [],
            }),
            ...overLimit(operation, input, maxAmounts),
          ].map((fault) => named(at, fault)),
        );
        return faults.length === 0
          ? Effect.succeed(accountHash(client.options))
          : Effect.fail(
              invalidRequest(planned.map(({ operation }) => operation).join(", "), faults),
            );
      },
      (error) => toApplicationFailure(error, { nonRetryable: true }),
    ),

  readAccount: () => accountOf(runtime),

  isAbove: async ({ amount, limit }) => !isAtLeast(limit, amount),

  confirmCard: ({ card, card_name, unique_request_id }) =>
    runInActivity(
      runtime,
      (client) => {
        const refused = (reason: string) =>
          Effect.fail(
            new Refused({
              operation: "createCard",
              carriedOut: "no",
              message: `The card ${card.card_id} was not issued: ${reason}`,
              code: 400,
              reason,
            }),
          );
        if (isCardRefused(card, client.options.assumptions)) {
          return refused(`its status is ${card.card_status ?? ""}`);
        }
        const echoed = card.unique_request_id;
        if (
          echoed !== undefined &&
          unique_request_id !== undefined &&
          comparable(echoed) !== comparable(unique_request_id)
        ) {
          return refused("the answer carries another request's unique_request_id");
        }
        return card_name === undefined
          ? Effect.succeed(card)
          : Effect.as(client.updateCard({ card_id: card.card_id, card_name }), card);
      },
      (error) => toApplicationFailure(error, { nonRetryable: error._tag === "Refused" }),
    ),
});
