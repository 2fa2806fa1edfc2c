import type { Input, OperationName, Output } from "@durable-payments/client";
import { isRecord } from "@durable-payments/client/values";
import { OWN_OPERATIONS } from "@durable-payments/protocol/calls";
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
  /** If the response is lost: create the beneficiary again, or ask a person. Default: `resend`. */
  readonly whenLost?: "resend" | "ask";
  /** False: creates a new beneficiary even if the ledger knows one for the same account. */
  readonly reuse?: false;
}

/**
 * The result of a step: its id, and fields of the service's response that the ledger keeps. Any of them may be missing: the
 * service left it out, a person has given the id, or the ledger was pruned.
 */
type Result<
  Name extends OperationName,
  Id extends keyof Output<Name>,
  Kept extends keyof Output<Name> = Id,
> = Readonly<Required<Record<Id, string>> & Partial<Record<Kept, string>>>;

/** The result of a step whose response has no fields. */
type Changed<Id extends string> = Readonly<Record<Id, string>>;

/** A payout that the service has accepted. */
export interface CreatedPayout extends Result<
  "createPayout",
  "payout_id",
  | "payout_status"
  | "amount"
  | "currency"
  | "short_reference"
  | "payout_reference"
  | "beneficiary_id"
  | "payment_date"
  | "fee_amount"
  | "create_time"
  | "unique_request_id"
> {}

/** A card that was issued. */
export interface IssuedCard extends Result<
  "createCard",
  "card_id",
  "card_status" | "unique_request_id"
> {}

/** A withdrawal from a card; the id is its key. */
export interface Withdrawal extends Result<
  "withdrawFromCard",
  "unique_request_id",
  "card_id" | "amount"
> {}

type IsUnion<Type, All = Type> = Type extends unknown
  ? [All] extends [Type]
    ? false
    : true
  : never;

/** Request of an operation. TypeScript infers no further type if one is given, so several operations are named twice. */
type OwnRequest<Operations, Name extends keyof Operations> =
  IsUnion<Name> extends true
    ? 'Name the operation in the type, too: ownOperation<typeof operations, "NAME">("NAME")'
    : Operations[Name] extends { send: (input: infer Request, context: never) => unknown }
      ? Request
      : never;

/** Result of an operation. A person who knows only its id may have given it: then the other fields are missing. */
type OwnResult<Operations, Name extends keyof Operations> = Operations[Name] extends {
  send: (input: never, context: never) => Promise<infer Made>;
}
  ? Readonly<Partial<Made>> & { readonly id: string }
  : never;

/**
 * Makes the step of an operation of your own, which `defineOperation` defines at the worker. Call it at the top of the
 * module: a worker then does not start without the operation.
 *
 * @param name the key in the worker's `operations`, whose types the step has. If there are several operations, the name is
 *   the second type: `ownOperation<typeof operations, "reserveGoods">("reserveGoods")`.
 * @returns the step; its result has the operation's `id`.
 * @example
 * ```ts
 * const reserveGoods = ownOperation<typeof operations>("reserveGoods");
 * await reserveGoods({ orderId });
 * ```
 */
export const ownOperation = <
  Operations extends object,
  Name extends keyof Operations & string = keyof Operations & string,
>(
  name: Name,
) => {
  const { [OWN_OPERATIONS]: needed } = globalThis as { [OWN_OPERATIONS]?: Set<string> };
  needed?.add(name);
  return (
    request: OwnRequest<Operations, Name>,
    options?: StepOptions,
  ): Promise<OwnResult<Operations, Name>> =>
    // The worker's definitions, whose types these are, check both.
    sendWrite({ operation: name, request: request as object }, options) as Promise<
      OwnResult<Operations, Name>
    >;
};

const writeOperation =
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the type of the step.
  <Request extends object, Made extends object>(operation: string) =>
    (request: Request, options?: StepOptions): Promise<Made> =>
      withId(sendWrite({ operation, request }, options));

const moneyOperation =
  <Request extends object, Made extends object>(operation: string) =>
  (request: Unkeyed<Request>, { approval, ...options }: MoneyOptions = {}): Promise<Made> => {
    if (approval !== undefined && !isAmount(approval.above)) {
      return failTask(`The approval of ${operation} must be { above: "500.00" }.`);
    }
    return withId(
      sendWrite({ operation, request }, options, approval && { approveAbove: approval.above }),
    );
  };

// The activity returns a response only with the id of the result.
const withId = <Made extends object>(made: Promise<Fields>): Promise<Made> =>
  made as Promise<unknown> as Promise<Made>;

/**
 * Creates a payout, exactly once. It completes later: see `awaitPayout`.
 *
 * @param request with the service's field names, without its key, which follows from the workflow id and the step. `amount`
 *   is a decimal string, such as `"250.00"`.
 * @returns the id of the payout, and the other fields that the ledger keeps; a repeated call returns the same. After the
 *   ledger was pruned, it returns the id alone.
 * @throws InvalidRequest, OverLimit and Rejected if nothing was sent; Refused if it had no effect; Ended, AlreadyCarriedOut
 *   and MadeTwice.
 * @example
 * ```ts
 * const payout = await createPayout({ ...deposit, beneficiary_id }, { step: "deposit" });
 * ```
 */
export const createPayout = moneyOperation<Input<"createPayout">, CreatedPayout>("createPayout");

/**
 * Creates a beneficiary, or reuses the one that the ledger has for the same account, holder and bank.
 *
 * @param request the account of the payee, with the service's field names.
 * @returns the id of the beneficiary. Account numbers are not returned.
 * @throws InvalidRequest, Refused, Ended, AlreadyCarriedOut, MadeTwice
 * @example
 * ```ts
 * const { beneficiary_id } = await createBeneficiary(supplier);
 * ```
 */
export const createBeneficiary = (
  request: Input<"createBeneficiary">,
  { reuse, whenLost, ...options }: BeneficiaryOptions = {},
): Promise<Result<"createBeneficiary", "beneficiary_id", "beneficiary_status">> =>
  withId(
    sendWrite({ operation: "createBeneficiary", request }, options, {
      ...(reuse === false && { reuse }),
      ...(whenLost !== undefined && { whenLost }),
    }),
  );

/**
 * Changes the fields of a beneficiary that the request has. It is safe to repeat.
 *
 * @param request the id of the beneficiary, and the fields to change, with the service's field names.
 * @returns the id of the beneficiary.
 * @throws InvalidRequest, Refused, Ended, AlreadyCarriedOut
 */
export const updateBeneficiary = writeOperation<
  Input<"updateBeneficiary">,
  Changed<"beneficiary_id">
>("updateBeneficiary");

/**
 * Creates a cardholder, exactly once. The identity check comes later: see `awaitVerification`.
 *
 * @param request the person, with the service's field names.
 * @returns the id of the cardholder.
 * @throws InvalidRequest, Refused, Ended, AlreadyCarriedOut, MadeTwice
 */
export const createCardholder = writeOperation<
  Input<"createCardholder">,
  Result<"createCardholder", "card_holder_id">
>("createCardholder");

/**
 * Removes a cardholder, which cannot be undone. It is safe to repeat: a cardholder who is already removed counts as done.
 *
 * @param request the id of the cardholder.
 * @returns the id of the cardholder.
 * @throws InvalidRequest, Refused, Ended, AlreadyCarriedOut
 */
export const removeCardholder = writeOperation<
  Input<"removeCardholder">,
  Changed<"card_holder_id">
>("removeCardholder");

/**
 * Issues a card, exactly once, and charges its limit to the USD balance. The step is named after its operation: `createCard`.
 *
 * @param request `card_limit` is a decimal string in USD, such as `"100.00"`: the amount that is loaded onto the card.
 * @returns the id and the status of the card. Its number is not returned.
 * @throws InvalidRequest, OverLimit and Rejected if nothing was sent; Refused if it had no effect; Ended, AlreadyCarriedOut
 *   and MadeTwice.
 */
export const issueCard = moneyOperation<Input<"createCard">, IssuedCard>("createCard");

/**
 * Sets the name of a card, which also proves that the card exists: the service has no list of cards.
 *
 * @returns the id of the card.
 * @throws Refused if the service does not know the card; InvalidRequest, Ended and AlreadyCarriedOut.
 */
export const confirmCard = (
  { card_id }: Pick<IssuedCard, "card_id">,
  { card_name }: { readonly card_name: string },
  options?: StepOptions,
): Promise<Changed<"card_id">> =>
  withId(
    sendWrite(
      { operation: "updateCard", request: { card_id, card_name }, name: "confirmCard" },
      options,
    ),
  );

/**
 * Withdraws an amount from a card to the USD balance, exactly once.
 *
 * @param request `amount` is a decimal string in USD. No step returns the `card_number` that it needs. Without a keyring,
 *   Temporal's history shows that number.
 * @returns the key of the withdrawal (`unique_request_id`), its card and its amount.
 * @throws InvalidRequest, OverLimit and Rejected if nothing was sent; Refused if it had no effect; Ended, AlreadyCarriedOut
 *   and MadeTwice.
 */
export const withdrawFromCard = moneyOperation<Input<"withdrawFromCard">, Withdrawal>(
  "withdrawFromCard",
);

/**
 * Changes the name of a card. It is safe to repeat.
 *
 * @param request the id of the card, and its new name.
 * @returns the id of the card.
 * @throws InvalidRequest, Refused, Ended, AlreadyCarriedOut
 */
export const updateCard = writeOperation<Input<"updateCard">, Changed<"card_id">>("updateCard");

/**
 * Cancels a card, which cannot be undone; the service refunds the rest to the balance. A card that is already cancelled
 * counts as done.
 *
 * @param request the id of the card.
 * @returns the id of the card.
 * @throws InvalidRequest, Refused, Ended, AlreadyCarriedOut
 */
export const cancelCard = writeOperation<Input<"cancelCard">, Changed<"card_id">>("cancelCard");

/**
 * Freezes a card: the service has no operation to unfreeze it. A card that is already frozen counts as done.
 *
 * @param request the id of the card.
 * @returns the id of the card.
 * @throws InvalidRequest, Refused, Ended, AlreadyCarriedOut
 */
export const freezeCard = writeOperation<Input<"freezeCard">, Changed<"card_id">>("freezeCard");

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
  // The compiler does not see every call.
  if (!isRecord(requests)) return failTask("checkRequests needs an object.");
  const added = Object.entries(requests).flatMap(([operation, all]) =>
    Array.isArray(all)
      ? all.map((request: object) => ({ operation, request: { ...request } }))
      : failTask(`checkRequests needs a list of requests of ${operation}.`),
  );
  state.planned = [...state.planned, ...added];
};
