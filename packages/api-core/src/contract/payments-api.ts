import * as HttpApi from "effect/http-api/HttpApi";
import * as OpenApi from "effect/http-api/OpenApi";
import { auth } from "./auth.ts";
import { balances } from "./balances.ts";
import { beneficiaries } from "./beneficiaries.ts";
import { cardholders } from "./cardholders.ts";
import { cards } from "./cards.ts";
import { describeOperations } from "./open-api.ts";
import { payers } from "./payers.ts";
import { payouts } from "./payouts.ts";
import { transactions } from "./transactions.ts";

const operations = HttpApi.make("payments").add(
  auth,
  beneficiaries,
  payouts,
  payers,
  balances,
  transactions,
  cardholders,
  cards,
);

/**
 * The whole service as one contract. Client, simulator, OpenAPI document, activities and the
 * starter's input checks are all derived from it.
 */
export const PaymentsApi = operations.annotateMerge(
  OpenApi.annotations({
    title: "Business account, payout and card service",
    version: "1",
    description:
      "As its interface document describes it. Names that the document leaves open are the " +
      "defaults of the client's assumptions.",
    transform: describeOperations(operations),
  }),
);
