import type { Transaction } from "@durable-payments/api-core";
import { Effect } from "effect";
import { HttpApiBuilder } from "effect/http-api";
import { LedgerStore } from "../ledger/ledger-store.ts";
import type { RecordOf } from "../ledger/records.ts";
import {
  TemperamentInForce,
  type TemperamentInForceShape,
} from "../temperament/temperaments-in-force.ts";
import { isWithin, pageOf } from "./pages.ts";
import { SimulatedApi } from "./simulated-api.ts";

type TransactionRecord = RecordOf<"transactions">;

/** The statuses as the filter writes them. */
const STATUSES = { "-1": "failed", "0": "pending", "1": "completed", "2": "cancelled" } as const;

const view = (record: TransactionRecord): Transaction => ({
  ...record,
  account_name: "Simulated Account Ltd",
  ...(record.complete_time === undefined ? {} : { settle_time: record.complete_time }),
});

interface Filters {
  readonly scope?: string;
  readonly short_reference_id?: string;
  readonly transaction_type?: string;
  readonly transaction_status?: keyof typeof STATUSES;
  readonly date_type?: "create_time" | "settle_time" | "complete_time";
  readonly start?: number;
  readonly end?: number;
}

const matches =
  (temperament: TemperamentInForceShape, filters: Filters) => (transaction: TransactionRecord) =>
    filters.scope !== "clients_account" &&
    (filters.short_reference_id === undefined ||
      transaction.short_reference_id === filters.short_reference_id) &&
    (filters.transaction_type === undefined ||
      transaction.transaction_type === filters.transaction_type) &&
    (filters.transaction_status === undefined ||
      transaction.transaction_status === STATUSES[filters.transaction_status]) &&
    isWithin(
      temperament,
      // Money settles when the movement completes.
      (filters.date_type ?? "create_time") === "create_time"
        ? transaction.create_time
        : transaction.complete_time,
      filters,
    );

/** Operations of the group "transactions". */
export const TransactionHandlers = HttpApiBuilder.group(
  SimulatedApi,
  "transactions",
  Effect.fn(function* (handlers) {
    const store = yield* LedgerStore;
    const temperament = yield* TemperamentInForce;
    return handlers.handleAll({
      listTransactions: ({ query }) =>
        store.transact((unit) =>
          pageOf(
            temperament,
            unit,
            unit.all("transactions").filter(matches(temperament, query)),
            query,
            { idOf: ({ transaction_id }) => transaction_id, view },
          ),
        ),
    });
  }),
);
