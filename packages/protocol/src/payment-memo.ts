import { isRecord } from "@durable-payments/api-core/values";
import { isAccountName } from "./account-name.ts";
import { textAt } from "./values.ts";
import { WORKFLOW } from "./workflow-types.ts";

/**
 * What a run moves, kept in its memo under `payment`: lists and batch reports read it without a history. A run
 * whose input is amended writes it anew.
 */
export interface PaymentMemo {
  /** A decimal string, as it is sent. */
  readonly amount: string;
  readonly currency: string;
  /** Nickname of the beneficiary, or its id where the run was given that. */
  readonly payee?: string;
  /** Name of the account that pays, where the run was given one. */
  readonly account?: string;
  /** What the run was started with, where it was amended since. */
  readonly before?: { readonly amount: string; readonly currency: string };
}

/** Mark, in PaymentIds, of a run whose payment was amended. */
export const AMENDED_MARK = "amended:payment";

/** The one currency of cards. */
const CARD_CURRENCY = "USD";

const amountAt = (value: unknown, field: string): string | undefined => {
  const amount = isRecord(value) ? value[field] : undefined;
  return typeof amount === "number" ? String(amount) : textAt(value, field);
};

/** A nickname is whatever was typed: one that may hold an account number is not kept. */
const nicknameAt = (beneficiary: unknown): string | undefined => {
  const nickname = textAt(beneficiary, "nickname");
  return nickname === undefined ||
    /\p{Nd}{6}/u.test(nickname.normalize("NFKC").replaceAll(/[^\p{L}\p{Nd}]/gu, ""))
    ? undefined
    : nickname;
};

/**
 * Read what a run moves from its input; undefined for a workflow whose input is not known.
 *
 * @param workflowType name of the workflow.
 * @param input as the run was started with, or as it was amended.
 * @returns its amount, currency and payee.
 */
export const paymentMemoOf = (workflowType: string, input: unknown): PaymentMemo | undefined => {
  if (!isRecord(input)) return undefined;
  const account = isAccountName(input["account"]) ? { account: input["account"] } : {};
  if (workflowType === WORKFLOW.payout) {
    const { beneficiary, payout } = input;
    const [amount, currency] = [amountAt(payout, "amount"), textAt(payout, "currency")];
    const payee = textAt(input, "beneficiary_id") ?? nicknameAt(beneficiary);
    return amount === undefined || currency === undefined
      ? undefined
      : {
          amount,
          currency: currency.toUpperCase(),
          ...(payee !== undefined && { payee }),
          ...account,
        };
  }
  const limit = amountAt(input["card"], "card_limit");
  return workflowType === WORKFLOW.onboardCardholder && limit !== undefined
    ? { amount: limit, currency: CARD_CURRENCY, ...account }
    : undefined;
};

/**
 * Read what a memo says that a run moves.
 *
 * @param memo of a run.
 * @returns undefined for a run that was started without it.
 */
export const readPaymentMemo = (
  memo: Readonly<Record<string, unknown>> | undefined,
): PaymentMemo | undefined => {
  const payment = memo?.["payment"];
  const [amount, currency] = ["amount", "currency"].map((name) => textAt(payment, name));
  if (amount === undefined || currency === undefined) return undefined;
  const [account, payee] = ["account", "payee"].map((name) => textAt(payment, name));
  const was = isRecord(payment) ? payment["before"] : undefined;
  const before = { amount: textAt(was, "amount") ?? "", currency: textAt(was, "currency") ?? "" };
  return {
    amount,
    currency,
    ...(payee !== undefined && { payee }),
    ...(account !== undefined && { account }),
    ...(before.amount !== "" && before.currency !== "" && { before }),
  };
};

/**
 * Give what a run moves once a step of it is amended by itself, without its input.
 *
 * @param known what it moved before.
 * @param operation of the step: `createPayout`, `createCard` or `createBeneficiary`.
 * @param request as it is sent now.
 * @returns what it moves now; the same where the operation moves nothing.
 */
export const amendedPayment = (
  known: PaymentMemo,
  operation: string,
  request: unknown,
): PaymentMemo => {
  const { payee: _, ...rest } = known;
  if (operation === "createBeneficiary") {
    const nickname = nicknameAt(request);
    return { ...rest, ...(nickname !== undefined && { payee: nickname }) };
  }
  const amount = amountAt(request, operation === "createCard" ? "card_limit" : "amount");
  const currency = textAt(request, "currency")?.toUpperCase();
  return {
    ...known,
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
  };
};
