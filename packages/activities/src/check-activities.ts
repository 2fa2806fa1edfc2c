import { isAtLeast } from "@durable-payments/api-core/decimal";
import { type Card, type Fault, Refused } from "@durable-payments/api-core";
import { checkInput } from "@durable-payments/api-core/contract";
import { isOwnSend, textAt } from "@durable-payments/protocol";
import { accountHash } from "@durable-payments/protocol/account";
import { Context } from "@temporalio/activity";
import { Effect } from "effect";
import { toApplicationFailure } from "./failures.ts";
import { type AmountLimits, invalidRequest, moneyOf, overLimit } from "./amount-limits.ts";
import type { Approvals } from "./approvals.ts";
import type { IntentMarks } from "./intent-marks.ts";
import type { CardholderFields } from "./match-rows.ts";
import type { PlannedRequest } from "./planned-requests.ts";
import { inputFaults, type OwnInputs } from "./own-inputs.ts";
import type { OwnOperations } from "./own-operation.ts";
import { ownRequestFaults } from "./own-operation-activities.ts";
import { accountOf, type PaymentsRuntime, runInActivity } from "./run-operation.ts";
import { isCardRefused } from "./statuses.ts";

/** A card that was answered, with the key that was sent for it, where it is known. */
export interface AnsweredCard {
  /** The card as the service answered it. */
  readonly card: Card;
  /** The key that was sent for it. */
  readonly unique_request_id?: string;
  /** When given, the card is renamed so: the only operation that shows that it exists. */
  readonly card_name?: string;
}

/** What is known of requests beside that they are sound. */
export interface CheckedRequests {
  /** The account of the worker that checked them, as a hash. */
  readonly account: string;
  /**
   * Whether they were approved with their batch; absent where no second person has to approve one; `atSend` where the send finds out, by the details of whom it
   * pays then.
   */
  readonly approval?: "needed" | "given" | "atSend";
  /**
   * By the plain marks of whom the run creates, what its PaymentIds have in their place; absent where these are in plain
   * hashes, and in answers of before.
   */
  readonly marks?: Readonly<Record<string, ReadonlyArray<string>>>;
}

/** An amount that is above a limit. */
export interface AboveLimit {
  /** The worker's limit, `above 1000.00 USD (PAYMENTS_APPROVE_ABOVE)`; left out where it is above that of the run. */
  readonly why?: string;
}

/** Checks before the first and after the last send of a run. */
export interface CheckActivities {
  /**
   * Checks every input of a run before anything is sent; all faults are named at once.
   *
   * @param proof that its batch was approved with it, where the run was started with one.
   * @returns the account of the worker that checked, as a hash: the run is pinned to it. With what is known
   *   of an approval, where a second person has to approve one of them, and with marks made with a secret.
   */
  readonly checkRequests: (
    planned: ReadonlyArray<PlannedRequest>,
    proof?: string,
  ) => Promise<string | CheckedRequests>;
  /**
   * Checks the input of a run by the schema that the worker has of it.
   *
   * @returns the account of the worker that checked, as a hash.
   */
  readonly checkOwnInput: (asked: { readonly input: unknown }) => Promise<string>;
  /** The account of the worker, as a hash. */
  readonly readAccount: () => Promise<string>;
  /** Compare an amount with a limit, exactly, and with those of the worker. */
  readonly isAbove: (compared: {
    readonly amount: string;
    readonly limit?: string;
    /** Left out, the limits of the worker are not asked. */
    readonly currency?: string;
  }) => Promise<false | AboveLimit>;
  /** Confirms that a card was issued, as far as the service shows it. */
  readonly confirmCard: (answered: AnsweredCard) => Promise<Card>;
}

/** Keys are letters, digits and dashes: a service that writes them otherwise means the same. */
const comparable = (key: string): string => key.trim().toLowerCase();

const named = (at: string, fault: Fault): Fault => ({
  field: fault.field === "" ? at : `${at}.${fault.field}`,
  problem: fault.problem,
});

/** The names of whom a request creates; none where an earlier step is to fill them in. */
const namesIn = ({ input, operation }: PlannedRequest): ReadonlyArray<CardholderFields> => {
  const [first_name, last_name] = [textAt(input, "first_name"), textAt(input, "last_name")];
  const isKnown = first_name !== undefined && last_name !== undefined;
  return operation === "createCardholder" && isKnown ? [{ first_name, last_name }] : [];
};

/** The checking activities over a client. */
export const makeCheckActivities = (
  runtime: PaymentsRuntime,
  maxAmounts: AmountLimits | undefined,
  approvals: Approvals,
  intentMarks: IntentMarks,
  { inputs, operations }: { readonly inputs: OwnInputs; readonly operations: OwnOperations },
): CheckActivities => ({
  checkOwnInput: async ({ input }) => {
    const { workflowType = "" } = Context.current().info;
    const faults = await inputFaults(inputs, workflowType, input);
    if (faults.length === 0) return accountOf(runtime);
    const named = faults.map((fault) => ({ ...fault, field: fault.field || "input" }));
    throw toApplicationFailure(invalidRequest(workflowType, named), { nonRetryable: true });
  },

  checkRequests: async (planned, proof) => {
    const ofOwn = await Promise.all(
      planned.map(async ({ input, operation }) =>
        isOwnSend(operation) ? await ownRequestFaults(operations, operation, input) : [],
      ),
    );
    const account = await runInActivity(
      runtime,
      (client) => {
        const faults = planned.flatMap(({ at, input, later, operation }, index) =>
          (isOwnSend(operation)
            ? (ofOwn[index] ?? [])
            : [
                ...checkInput(operation, input, {
                  assumptions: client.options.assumptions,
                  later: later ?? [],
                }),
                ...overLimit(operation, input, maxAmounts),
              ]
          ).map((fault) => named(at, fault)),
        );
        return faults.length === 0
          ? Effect.succeed(accountHash(client.options))
          : Effect.fail(
              invalidRequest(planned.map(({ operation }) => operation).join(", "), faults),
            );
      },
      (error) => toApplicationFailure(error, { nonRetryable: true }),
    );
    const isWanted = planned.some(
      ({ input, operation }) => approvals.why(moneyOf(operation, input)) !== undefined,
    );
    const marks = intentMarks.ofCardholders(planned.flatMap(namesIn));
    const withMarks = marks && { marks };
    if (!isWanted) return marks === undefined ? account : { account, marks };
    const [first] = planned;
    const isToExisting = planned.length === 1 && first?.operation === "createPayout";
    if (proof !== undefined && isToExisting) return { account, approval: "atSend", ...withMarks };
    const { workflowId = "" } = Context.current().info.workflowExecution ?? {};
    const isGiven = await approvals.isProof(proof, workflowId, planned);
    return { account, approval: isGiven ? "given" : "needed", ...withMarks };
  },

  readAccount: () => accountOf(runtime),

  isAbove: async ({ amount, currency, limit }) => {
    if (limit !== undefined && !isAtLeast(limit, amount)) return {};
    const why = currency === undefined ? undefined : approvals.why({ amount, currency });
    return why !== undefined && { why };
  },

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
