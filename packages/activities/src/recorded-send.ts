import { canonicalDecimal } from "@durable-payments/api-core/values";
import { createHmac } from "node:crypto";
import { idNameOf, type RecordedSend, type Send } from "@durable-payments/journal";
import { ownSendingOf } from "@durable-payments/protocol";
import type { Info } from "@temporalio/activity";
import { moneyOf } from "./amount-limits.ts";
import { canonicalJson } from "./canonical-json.ts";
import type { SendIntent } from "./send-intent.ts";

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};

/** Read a field of an object, where it is a text that says something. */
export const textOf = (value: unknown, field: string): string | undefined => {
  const text = fieldsOf(value)[field];
  return typeof text === "string" && text !== "" ? text : undefined;
};

/** The fields of requests that hold an amount. */
const AMOUNTS: ReadonlySet<string> = new Set(["amount", "card_limit"]);

/**
 * Hash a request, by another key for each workflow id, so that equal payments of two runs
 * have different hashes. The request's own key is recorded beside it. A card's number is left out:
 * card_id names the card, and a hash of a number with few unknown digits can be guessed.
 */
export const hashPayload = (workflowId: string, input: unknown): string => {
  const { card_number: _, unique_request_id: __, ...hashed } = fieldsOf(input);
  const plain = Object.entries(hashed).map(([field, value]) => [
    field,
    // 10 and 10.00 pay the same.
    AMOUNTS.has(field) && typeof value === "string" ? (canonicalDecimal(value) ?? value) : value,
  ]);
  return createHmac("sha256", workflowId)
    .update(canonicalJson(Object.fromEntries(plain)))
    .digest("hex");
};

/** An operation of a user's own says how much it moves as a payout does, where it moves money. */
const recordedMoney = (operation: string, input: unknown) =>
  ownSendingOf(operation) === undefined
    ? moneyOf(operation, input)
    : { amount: textOf(input, "amount"), currency: textOf(input, "currency") };

/** Make what the journal keeps of a send: names, ids, amount and currency, and a hash of the rest. */
export const recordedSend = (
  operation: string,
  input: unknown,
  { activityId, workflowExecution }: Pick<Info, "activityId" | "workflowExecution">,
  { isUndone = false, knownTo, number, step }: SendIntent,
  payee?: string,
): Send => {
  const { runId, workflowId } = workflowExecution ?? {
    workflowId: `activity ${activityId}`,
    runId: "",
  };
  const key = textOf(input, "unique_request_id");
  const { amount, currency } = recordedMoney(operation, input);
  return {
    workflowId,
    step,
    number,
    ...(knownTo !== undefined && { knownTo }),
    operation,
    runId,
    payloadHash: hashPayload(workflowId, input),
    isUndone,
    ...(key !== undefined && { key }),
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
    ...(payee !== undefined && { payee }),
  };
};

/**
 * Check whether a recorded send may have carried this request: all of it, or, where not all of it is known
 * here, as much money of the same currency.
 */
export const mayHaveCarried = (
  { amount, currency, operation, payloadHash, workflowId }: RecordedSend,
  input: unknown,
  { isWhole }: { readonly isWhole: boolean },
): boolean => {
  if (isWhole) return payloadHash === hashPayload(workflowId, input);
  const wanted = recordedMoney(operation, input);
  const isSame = (recorded: string | undefined, text: string | undefined): boolean =>
    recorded === undefined || recorded === text;
  const plain = (text: string | undefined) => text && (canonicalDecimal(text) ?? text);
  return isSame(plain(amount), plain(wanted.amount)) && isSame(currency, wanted.currency);
};

const ID_FIELDS = [
  "payout_id",
  "short_reference",
  "card_id",
  "card_holder_id",
  "beneficiary_id",
] as const;

/** Read the ids in the answer of a write. */
export const idsIn = (operation: string, answer: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...new Set([...ID_FIELDS, idNameOf(operation) ?? ""])].flatMap((field) => {
      const id = textOf(answer, field);
      return id === undefined ? [] : [[field, id]];
    }),
  );

/** Tell whether an answer shows the key that was sent, another one in its place, or none. */
export const echoIn = (input: unknown, answer: unknown): "same" | "other" | "none" | undefined => {
  const sent = textOf(input, "unique_request_id");
  const echoed = textOf(answer, "unique_request_id");
  if (sent === undefined) return undefined;
  if (echoed === undefined) return "none";
  return echoed === sent ? "same" : "other";
};
