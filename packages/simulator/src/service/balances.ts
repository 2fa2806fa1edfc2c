import { formatAmount } from "@durable-payments/api-core/decimal";
import { BigDecimal, Effect } from "effect";
import { HttpApiBuilder } from "effect/http-api";
import { createHash, randomUUID } from "node:crypto";
import { LedgerStore, type Unit } from "../ledger/ledger-store.ts";
import { parseAmount } from "../ledger/request-amounts.ts";
import { move } from "../ledger/movements.ts";
import type { RecordOf } from "../ledger/records.ts";
import { confirm } from "./confirm.ts";
import { refuse } from "./refuse.ts";
import { SimulatedApi } from "./simulated-api.ts";

/** Opens an empty balance; a second one of the same currency is refused. */
export const createBalance = (unit: Unit, currency: string, name: string): void => {
  if (unit.get("balances", currency) !== undefined) {
    refuse(`A ${currency} balance already exists`);
  }
  unit.put("balances", currency, {
    balance_id: randomUUID(),
    currency,
    name,
    available_balance: formatAmount(BigDecimal.fromBigInt(0n), currency),
  });
};

/** Pays into a balance from outside. */
export const fund = (unit: Unit, currency: string, amount: string): void => {
  const { balance_id } = balanceOf(unit, currency);
  move(unit, {
    currency,
    amount: parseAmount("amount", amount, currency),
    type: "deposit",
    status: "completed",
    reference_id: balance_id,
    short_reference_id: "",
  });
};

/** The balance in that currency; a missing one is refused. */
const balanceOf = (unit: Unit, currency: string): RecordOf<"balances"> =>
  unit.get("balances", currency) ?? refuse(`There is no ${currency} balance`);

/** Ten digits that stay the same for the same balance. */
const accountNumber = (balanceId: string): string =>
  String(createHash("sha256").update(balanceId).digest().readUIntBE(0, 6) % 10 ** 10).padStart(
    10,
    "0",
  );

const bankDetails = ({ balance_id, currency }: RecordOf<"balances">) => {
  const account = {
    account_bank_id: `bank-${balance_id}`,
    account_id: balance_id,
    account_holder: "Simulated Account Ltd",
    account_number: accountNumber(balance_id),
    bank_name: "Simulated Bank",
    bank_code: "SIMUUS33",
    bank_address: "1 Localhost Square, New York",
    country_code: "US",
    currency_code: currency,
    payment_reference: `SIM-${balance_id.slice(0, 8).toUpperCase()}`,
  };
  return {
    local:
      currency === "USD"
        ? [{ ...account, clearing_system_type: "US-ACH", clearing_system_code: "ACH" }]
        : [],
    swift: [{ ...account, clearing_system_type: "Bank", clearing_system_code: "SWIFT" }],
    status: "opened",
  };
};

/** Operations of the group "balances". */
export const BalanceHandlers = HttpApiBuilder.group(
  SimulatedApi,
  "balances",
  Effect.fn(function* (handlers) {
    const store = yield* LedgerStore;
    return handlers.handleAll({
      createBalance: ({ payload }) =>
        confirm(store, (unit) => createBalance(unit, payload.currency, payload.name)),
      retrieveBalance: ({ params }) =>
        store.transact((unit) => {
          const { available_balance, balance_id, currency } = balanceOf(unit, params.currency);
          return { available_balance, balance_id, currency };
        }),
      retrieveBalanceBankDetails: ({ params }) =>
        store.transact((unit) => bankDetails(balanceOf(unit, params.currency))),
    });
  }),
);
