import type { Input } from "@durable-payments/client";
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

type IsUnion<Type, All = Type> = Type extends unknown
  ? [All] extends [Type]
    ? false
    : true
  : never;

/** Request of an operation. TypeScript infers no type beside one that is given, so one of several is named twice. */
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
  <Request extends object, Made extends Fields = Fields>(operation: string) =>
    (request: Request, options?: StepOptions): Promise<Made> =>
      withId(sendWrite({ operation, request }, options));

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
export const updateBeneficiary = writeOperation<Input<"updateBeneficiary">>("updateBeneficiary");

/**
 * Creates a cardholder, exactly once. The identity check comes later: see `awaitVerification`.
 *
 * @throws Refused, InvalidRequest, Ended, AlreadyCarriedOut
 */
export const createCardholder = writeOperation<
  Input<"createCardholder">,
  Fields & { readonly card_holder_id: string }
>("createCardholder");

/** Removes a cardholder. @throws Refused, InvalidRequest, Ended */
export const removeCardholder = writeOperation<Input<"removeCardholder">>("removeCardholder");

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
export const updateCard = writeOperation<Input<"updateCard">>("updateCard");

/** Cancels a card. @throws Refused, InvalidRequest, Ended */
export const cancelCard = writeOperation<Input<"cancelCard">>("cancelCard");

/** Freezes a card. @throws Refused, InvalidRequest, Ended */
export const freezeCard = writeOperation<Input<"freezeCard">>("freezeCard");

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
