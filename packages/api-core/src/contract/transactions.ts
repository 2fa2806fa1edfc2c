import * as Schema from "effect/Schema";
import { get } from "effect/http-api/HttpApiEndpoint";
import { answer, answeredId, answeredOrUnset, answeredTime, page } from "./answers.ts";
import { PageNumber, pageSize, RangeBound, text } from "./fields.ts";
import { endpointGroup, Idempotency, Paged, SignedIn } from "./operation-facts.ts";
import { Scope } from "./payouts.ts";
import { type Named, named, type Rule } from "./rules.ts";

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

/** Page and filters of listTransactions. */
export interface ListTransactionsInput extends Named<typeof ListTransactionsInputSchema> {}
// On the wire they may have other names, see the assumptions.
const ListTransactionsInputSchema = named<ListTransactionsInput>()(
  {
    /** Which page: a whole number, 1 or more. */
    page_num: PageNumber,
    /** Transactions on a page, 1 to 100. */
    page_size: pageSize(TRANSACTIONS_PAGE_SIZE),
    /** The owners of the transactions: the account's own house, or its clients. */
    scope: Schema.optionalKey(Scope),
    /** Transactions of the order of this short id. */
    short_reference_id: Schema.optionalKey(text()),
    /** Transactions of this type alone. */
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
    /** Transactions of this state alone: -1 failed, 0 pending, 1 completed, 2 cancelled. */
    transaction_status: Schema.optionalKey(Schema.Literals(["-1", "0", "1", "2"])),
    /** Which time of a transaction `start` and `end` are about. */
    date_type: Schema.optionalKey(Schema.Literals(["create_time", "settle_time", "complete_time"])),
    /** From this time on: milliseconds since 1970. */
    start: Schema.optionalKey(RangeBound),
    /** Up to this time: milliseconds since 1970, at most 30 days after `start`. */
    end: Schema.optionalKey(RangeBound),
  },
  [spanOfAtMost30Days],
);

/** One movement on the account; unset fields are absent. */
export interface Transaction extends Named<typeof TransactionSchema> {}
const TransactionSchema = named<Transaction>()({
  /** The service's id of the transaction. */
  transaction_id: answeredId,
  /** Name of the account. */
  account_name: answeredOrUnset,
  /** Kind of movement, such as `payout` or `card charge`. */
  transaction_type: answeredOrUnset,
  /** Three-letter code (ISO 4217), such as `USD`. */
  currency: answeredOrUnset,
  /** Total amount: a decimal string in units of `currency`. */
  amount: answeredOrUnset,
  /** Time of creation: ISO 8601 with offset. */
  create_time: answeredTime,
  /** Time of settlement: ISO 8601 with offset; absent until then. */
  settle_time: answeredTime,
  /** Time of completion: ISO 8601 with offset; absent until then. */
  complete_time: answeredTime,
  /** `failed`, `pending`, `completed` or `cancelled`. */
  transaction_status: answeredOrUnset,
  /** Long id of the order that it belongs to. */
  reference_id: answeredOrUnset,
  /** Short id of the order that it belongs to. */
  short_reference_id: answeredOrUnset,
});

/** Source: service interface, "Transactions". */
export const transactionOperations = {
  /**
   * List movements on the account, a page of at most 100 at a time; `client.streams.listTransactions` reads all
   * pages. `start` and `end` are milliseconds since 1970, at most 30 days apart.
   *
   * Idempotency class `safe`: it only reads, and is sent again after a lost answer.
   *
   * @example
   * const { item_list } = await client.listTransactions({
   *   page_num: 1,
   *   page_size: 100,
   *   transaction_type: "payout",
   *   date_type: "create_time",
   *   start: Date.parse("2026-11-01T00:00:00Z"),
   *   end: Date.parse("2026-11-30T00:00:00Z"),
   * });
   */
  listTransactions: get("listTransactions", "/transactions", {
    query: ListTransactionsInputSchema,
    success: page(answer(TransactionSchema)),
  })
    .annotate(Idempotency, "safe")
    .annotate(Paged, { maxPageSize: TRANSACTIONS_PAGE_SIZE, itemId: "transaction_id" }),
};

/** The transactions of the service. */
export const transactions = endpointGroup("transactions", transactionOperations).middleware(
  SignedIn,
);
