import { cleanTexts } from "@durable-payments/client/values";
import type { JsonObject, Ledger, WriteRequest } from "@durable-payments/ledger";
import { requestHash, requestTerms, textAt, withoutAccounts } from "@durable-payments/protocol";
import { payeeMark, personMarks } from "@durable-payments/protocol/account";
import { type WriteName, WRITES } from "./operation.ts";
import { pickTexts } from "./request.ts";

/** Returns the payee or person of a request: an id of the service, or a mark of an account or a person. */
export const payeeOfRequest = (
  name: WriteName,
  request: JsonObject,
  keyed: Ledger["keyed"],
): string | null => {
  if (name === "createCardholder") return personMarks(request, keyed).payee;
  const mark = name === "createBeneficiary" ? payeeMark(request) : undefined;
  return mark === undefined
    ? (textAt(request, WRITES[name].payeeField ?? "") ?? null)
    : keyed(mark);
};

/** Returns the part of a request of the contract that the ledger keeps. */
export const describeWrite = (
  name: WriteName,
  given: JsonObject,
  keyed: Ledger["keyed"],
): WriteRequest => {
  const facts = WRITES[name];
  // As the client cleans it before it is sent.
  const request = cleanTexts(given);
  const currency = facts.currency ?? textAt(request, "currency")?.toUpperCase() ?? null;
  const [amount] = Object.values(pickTexts(request, [facts.amountField ?? ""]));
  const isMoney = typeof amount === "string";
  return {
    hash: requestHash(name, request),
    terms: requestTerms(name, request),
    amount: isMoney ? amount : null,
    currency: isMoney ? currency : null,
    payee: payeeOfRequest(name, request, keyed),
    reference: withoutAccounts(textAt(request, "payout_reference") ?? "") || null,
    paymentDate: name === "createPayout" ? (textAt(request, "payment_date") ?? null) : null,
    facts: pickTexts(request, facts.facts ?? []),
  };
};

/** The same of an operation of a user's own. */
export const describeOwn = (name: string, request: JsonObject): WriteRequest => ({
  hash: requestHash(name, request),
  terms: requestTerms(name, request),
  amount: textAt(request, "amount") ?? null,
  currency: textAt(request, "currency")?.toUpperCase() ?? null,
  payee: null,
  reference: null,
  paymentDate: null,
  facts: {},
});
