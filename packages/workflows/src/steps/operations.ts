import type { Input } from "@durable-payments/client";
import { isAmount } from "@durable-payments/protocol/inputs";
import { failTask, runState } from "../run.ts";
import { type Fields, sendWrite, type StepOptions } from "./write.ts";

type Unkeyed<Request> = Omit<Request, "unique_request_id">;

/** How a payout or a card is sent. */
export interface MoneyOptions extends StepOptions {
  /** An amount above it needs a second person's approval: a decimal string in the payment's currency. */
  readonly approval?: { readonly above: string } | undefined;
}

/** How a beneficiary is created. */
export interface BeneficiaryOptions extends StepOptions {
  /** If the answer is lost: create it again, or ask a person. Default: `resend`. */
  readonly whenLost?: "resend" | "ask";
  /** False: creates a new beneficiary even if the ledger knows one for the same account. */
  readonly reuse?: false;
}

/** A payout that the service has accepted. */
export interface CreatedPayout extends Fields {
  readonly payout_id: string;
  readonly short_reference?: string;
}

/** A card that was issued. */
export interface IssuedCard extends Fields {
  readonly card_id: string;
  readonly card_status?: string;
}

/**
 * Makes the step of an operation of your own, which `defineOperation` defines at the worker under the same name.
 *
 * @param name the key in the worker's `operations`.
 * @returns the step.
 * @example
 * ```ts
 * const reserveGoods = ownOperation<Reserve>("reserveGoods");
 * await reserveGoods({ orderId });
 * ```
 */
export const ownOperation =
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the type of the step, which its author names.
  <Request extends object, Made extends Fields = Fields>(name: string) =>
    (request: Request, options?: StepOptions): Promise<Made> =>
      withId(sendWrite({ operation: name, request }, options));

const moneyOperation =
  <Request extends object, Made extends Fields>(operation: string) =>
  (request: Unkeyed<Request>, { approval, ...options }: MoneyOptions = {}): Promise<Made> => {
    if (approval !== undefined && !isAmount(approval.above)) {
      return failTask(`The approval of ${operation} must be { above: "500.00" }.`);
    }
    return withId(
      sendWrite({ operation, request }, options, approval && { approveAbove: approval.above }),
    );
  };

// The activity returns an answer only with the id of the result.
const withId = <Made extends Fields>(made: Promise<Fields>): Promise<Made> => made as Promise<Made>;

/**
 * Creates a payout, exactly once. It completes later: see `awaitPayout`.
 *
 * @param request without its key, which follows from the workflow id and the step.
 * @throws Refused, InvalidRequest, OverLimit, Rejected, Ended, AlreadyCarriedOut
 * @example
 * ```ts
 * const payout = await createPayout({ ...deposit, beneficiary_id }, { step: "deposit" });
 * ```
 */
export const createPayout = moneyOperation<Input<"createPayout">, CreatedPayout>("createPayout");

/**
 * Creates a beneficiary, or takes the known one for the same account, holder and bank.
 *
 * @throws Refused, InvalidRequest, Ended, AlreadyCarriedOut
 */
export const createBeneficiary = (
  request: Input<"createBeneficiary">,
  { reuse, whenLost, ...options }: BeneficiaryOptions = {},
): Promise<Fields & { readonly beneficiary_id: string }> =>
  withId(
    sendWrite({ operation: "createBeneficiary", request }, options, {
      ...(reuse === false && { reuse }),
      ...(whenLost !== undefined && { whenLost }),
    }),
  );

/** Changes a beneficiary. @throws Refused, InvalidRequest, Ended */
export const updateBeneficiary = ownOperation<Input<"updateBeneficiary">>("updateBeneficiary");

/**
 * Creates a cardholder, exactly once. The identity check comes later: see `awaitVerification`.
 *
 * @throws Refused, InvalidRequest, Ended, AlreadyCarriedOut
 */
export const createCardholder = ownOperation<
  Input<"createCardholder">,
  Fields & { readonly card_holder_id: string }
>("createCardholder");

/** Removes a cardholder. @throws Refused, InvalidRequest, Ended */
export const removeCardholder = ownOperation<Input<"removeCardholder">>("removeCardholder");

/**
 * Issues a card with its initial recharge, exactly once. The step's name is its operation: `createCard`.
 *
 * @throws Refused, InvalidRequest, OverLimit, Rejected, Ended, AlreadyCarriedOut
 */
export const issueCard = moneyOperation<Input<"createCard">, IssuedCard>("createCard");

/**
 * Names a card, which also proves that it exists: the service has no list of cards.
 *
 * @throws Refused if the service does not know the card.
 */
export const confirmCard = (
  { card_id }: Pick<IssuedCard, "card_id">,
  { card_name }: { readonly card_name: string },
  options?: StepOptions,
): Promise<Fields> =>
  sendWrite(
    { operation: "updateCard", request: { card_id, card_name }, name: "confirmCard" },
    options,
  );

/** Withdraws from a card to its balance, exactly once. @throws Refused, InvalidRequest, Ended, AlreadyCarriedOut */
export const withdrawFromCard = moneyOperation<Input<"withdrawFromCard">, Fields>(
  "withdrawFromCard",
);

/** Changes a card. @throws Refused, InvalidRequest, Ended */
export const updateCard = ownOperation<Input<"updateCard">>("updateCard");

/** Cancels a card. @throws Refused, InvalidRequest, Ended */
export const cancelCard = ownOperation<Input<"cancelCard">>("cancelCard");

/** Freezes a card. @throws Refused, InvalidRequest, Ended */
export const freezeCard = ownOperation<Input<"freezeCard">>("freezeCard");

/**
 * Makes the next write check the requests of later steps, too. It then fails with every fault before anything is sent.
 * Fields from earlier steps, such as `beneficiary_id`, may be missing. It does not schedule an activity.
 *
 * @param requests by operation.
 * @example
 * ```ts
 * checkRequests({ createBeneficiary: [supplier], createPayout: [deposit, balance] });
 * ```
 */
export const checkRequests = (requests: Readonly<Record<string, ReadonlyArray<object>>>): void => {
  const state = runState();
  const added = Object.entries(requests).flatMap(([operation, all]) =>
    all.map((request) => ({ operation, request: { ...request } })),
  );
  state.planned = [...state.planned, ...added];
};
