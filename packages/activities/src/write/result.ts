/*
 * Whether a result at the service is that of a request.
 *
 * A response, a row of a list and an object that is read by its id may be of another write. A field contradicts only if it
 * is surely another one: the service may leave fields out, shorten them or write them differently.
 */
import type { Assumptions } from "@durable-payments/client/effect";
import { isRecord } from "@durable-payments/client/values";
import type { JsonObject, SendOutcome, WriteRow } from "@durable-payments/ledger";
import { textAt } from "@durable-payments/protocol";
import { isOtherAmount } from "../evidence/amounts.ts";
import {
  contradictionOf,
  isOtherId,
  type Likeness,
  type ListedRow,
  matchCardholder,
} from "../evidence/match.ts";
import { contradictedField } from "./beneficiaries.ts";
import { type WriteName, WRITES } from "./operation.ts";
import { pickTexts } from "./request.ts";

/** Compares the facts of a cardholder with a row of the list. Its request was checked, so it has these fields. */
export const compareCardholder = (facts: JsonObject, row: ListedRow): Likeness =>
  matchCardholder(facts as unknown as Parameters<typeof matchCardholder>[0], row);

/** Whether a text shows another amount than was sent. */
const isOtherSum = (sent: string, shown: unknown): boolean =>
  typeof shown === "string" && isOtherAmount(sent, shown, "");

/** Returns what the service shows otherwise than it was sent; undefined if nothing contradicts. */
export const contradictionIn = (
  name: WriteName,
  request: JsonObject,
  key: string,
  answer: unknown,
  { payoutFieldsAsSent }: Assumptions,
): string | undefined => {
  const isOther = (field: string, compare: typeof isOtherId, sent = textAt(request, field)) =>
    sent !== undefined && compare(sent, textAt(answer, field));
  const another = (field: string | undefined) => field && `a different ${field} from the one sent`;
  switch (name) {
    case "createBeneficiary":
      return another(contradictedField(request, answer));
    case "createPayout": {
      // Its request was checked.
      const sent = request as unknown as Parameters<typeof contradictionOf>[0];
      return isRecord(answer) ? contradictionOf(sent, answer, payoutFieldsAsSent) : undefined;
    }
    case "createCardholder":
      return isRecord(answer) && compareCardholder(request, answer) === "different"
        ? another("name")
        : undefined;
    case "createCard":
    case "withdrawFromCard":
      if (isOther("unique_request_id", isOtherId, key)) return another("unique_request_id");
      if (isOther("card_id", isOtherId)) return another("card_id");
      return another(isOther("amount", isOtherSum) ? "amount" : undefined);
    default:
      return undefined;
  }
};

/** Returns the result that a response to a write shows; a contradiction if it is of another write. */
export const madeOf = (
  name: WriteName,
  request: JsonObject,
  key: string,
  answer: unknown,
  assumptions: Assumptions,
): SendOutcome => {
  const { idField, isKeyed, kept } = WRITES[name];
  const id =
    (name === "withdrawFromCard" ? key : textAt(answer, idField)) ?? textAt(request, idField);
  if (id === undefined) {
    return { is: "lost", message: `The response to ${name} lacks the id of the result.` };
  }
  const contradicted = contradictionIn(name, request, key, answer, assumptions);
  if (contradicted !== undefined) {
    return { is: "contradiction", message: `The response to ${name} shows ${contradicted}.` };
  }
  const result = pickTexts(answer, kept);
  return {
    is: "made",
    id,
    result: {
      ...pickTexts(request, kept),
      ...result,
      ...(isKeyed && { unique_request_id: key }),
      [idField]: id,
    },
  };
};

/**
 * Returns what the ledger has of a request, to compare a result with. It keeps nothing of an account, and no facts of a
 * request that had no effect: of a payout, its columns are left, and a mark is not an id.
 */
export const comparedOf = (
  name: WriteName,
  { amount, currency, facts, payee }: WriteRow["request"],
) => {
  if (name === "createBeneficiary") return undefined;
  if (Object.keys(facts).length > 0) return facts;
  if (name !== "createPayout" || amount === null || currency === null) return undefined;
  return { amount, currency, ...(payee?.includes("/") === false && { beneficiary_id: payee }) };
};
