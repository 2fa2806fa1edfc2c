import * as Schema from "effect/Schema";
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint";
import * as HttpApiGroup from "effect/http-api/HttpApiGroup";
import { Refusal } from "./envelope.ts";
import {
  answeredId,
  answeredOrUnset,
  answeredTime,
  PageNumber,
  pageSize,
  RangeBound,
  text,
} from "./fields.ts";
import { page } from "./list-page.ts";
import { ItemId, MaxPageSize, Idempotency } from "./operation-facts.ts";
import { Scope } from "./payouts.ts";
import { type Rule, withRules } from "./rules.ts";
import { SignedIn } from "./signed-in.ts";

const TRANSACTIONS_PAGE_SIZE = 100;
const LONGEST_SPAN_DAYS = 30;
const DAY = 24 * 60 * 60 * 1000;

const spanOfAtMost30Days: Rule = ({ start, end }) => {
  if (typeof start !== "number" || typeof end !== "number") return [];
  if (end < start) return [{ field: "end", problem: "must not be before start" }];
  return end - start > LONGEST_SPAN_DAYS * DAY
    ? [{ field: "end", problem: `must be at most ${LONGEST_SPAN_DAYS} days after start` }]
    : [];
};

/** Filters of listTransactions; on the wire they may have other names, see the assumptions. */
const ListTransactions = withRules(
  Schema.Struct({
    page_num: PageNumber,
    page_size: pageSize(TRANSACTIONS_PAGE_SIZE),
    scope: Schema.optionalKey(Scope),
    short_reference_id: Schema.optionalKey(text()),
    transaction_type: Schema.optionalKey(
      Schema.Literals([
        "payin",
        "payout",
        "deposit",
        "transfer",
        "conversion",
        "card fee",
        "card charge",
        "fee",
        "adjustment",
      ]),
    ),
    /** -1 failed, 0 pending, 1 completed, 2 cancelled. */
    transaction_status: Schema.optionalKey(Schema.Literals(["-1", "0", "1", "2"])),
    date_type: Schema.optionalKey(Schema.Literals(["create_time", "settle_time", "complete_time"])),
    start: Schema.optionalKey(RangeBound),
    end: Schema.optionalKey(RangeBound),
  }),
  [spanOfAtMost30Days],
);

/** One movement on the account. */
export const Transaction = Schema.Struct({
  transaction_id: answeredId,
  account_name: answeredOrUnset,
  transaction_type: answeredOrUnset,
  currency: answeredOrUnset,
  amount: answeredOrUnset,
  create_time: answeredTime,
  settle_time: answeredTime,
  complete_time: answeredTime,
  /** failed, pending, completed or cancelled. */
  transaction_status: answeredOrUnset,
  reference_id: answeredOrUnset,
  short_reference_id: answeredOrUnset,
});

/** One movement on the account. */
export type Transaction = typeof Transaction.Type;

/** Source: service interface, "Transactions". */
export const transactions = HttpApiGroup.make("transactions", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listTransactions", "/api/v1/transactions", {
      query: ListTransactions,
      success: page(Transaction),
      error: Refusal,
    })
      .annotate(Idempotency, "safe")
      .annotate(MaxPageSize, TRANSACTIONS_PAGE_SIZE)
      .annotate(ItemId, "transaction_id"),
  )
  .middleware(SignedIn);
