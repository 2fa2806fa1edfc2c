import { Effect } from "effect";
import { HttpApiBuilder } from "effect/http-api";
import { randomUUID } from "node:crypto";
import { LedgerStore, type Unit } from "../ledger/ledger-store.ts";
import type { RecordOf } from "../ledger/records.ts";
import { refuse } from "./refuse.ts";
import { SimulatedApi } from "./simulated-api.ts";

type PayerRecord = RecordOf<"payers">;

const PAYER_FIELDS = [
  "entity_type",
  "company_name",
  "first_name",
  "last_name",
  "address",
  "city",
  "state_or_province",
  "country",
  "postal_code",
  "identification_type",
  "identification_value",
] as const;

/** Writes a payer down and returns its id. */
export const addPayer = (unit: Unit, details: PayerRecord["details"]): string => {
  const payer_id = randomUUID();
  unit.put("payers", payer_id, { payer_id, details });
  return payer_id;
};

/** Who pays a payout: the payer that it names, the one that it describes, or else the account's owner. */
export const payerOf = (unit: Unit, payout: Readonly<Record<string, string>>): string => {
  const { birth_date, entity_type, payer_id } = payout;
  if (payer_id !== undefined && payer_id !== "") {
    return unit.get("payers", payer_id)?.payer_id ?? refuse("Payer not found");
  }
  if (entity_type === undefined) {
    return unit.all("payers").at(0)?.payer_id ?? refuse("Payer not found");
  }
  const details = Object.fromEntries(PAYER_FIELDS.map((field) => [field, payout[field] ?? ""]));
  return addPayer(unit, { ...details, date_of_birth: birth_date ?? "" });
};

/** Operations of the group "payers". */
export const PayerHandlers = HttpApiBuilder.group(
  SimulatedApi,
  "payers",
  Effect.fn(function* (handlers) {
    const store = yield* LedgerStore;
    return handlers.handleAll({
      listPayers: () =>
        store.transact((unit) =>
          unit.all("payers").map(({ details, payer_id }) => ({ ...details, payer_id })),
        ),
    });
  }),
);
