import type { Cardholder } from "@durable-payments/api-core";
import { Effect } from "effect";
import { HttpApiBuilder } from "effect/http-api";
import { randomUUID } from "node:crypto";
import { LedgerStore, type Unit } from "../ledger/ledger-store.ts";
import type { RecordOf } from "../ledger/records.ts";
import { Settings, type SettingsShape } from "../settings.ts";
import { TemperamentInForce } from "../temperament/temperaments-in-force.ts";
import { pageOf } from "./pages.ts";
import { confirm } from "./confirm.ts";
import { refuse } from "./refuse.ts";
import { SimulatedApi } from "./simulated-api.ts";

type CardholderRecord = RecordOf<"cardholders">;

/** The outcomes of an identity check, by the number that filters use. */
const STATUSES = { "-1": "FAILED", "0": "PENDING", "1": "SUCCESS", "2": "INCOMPLETE" } as const;

/** The outcomes of an identity check. */
export const VERIFICATIONS = ["SUCCESS", "FAILED", "INCOMPLETE", "PENDING"] as const;

/** The outcomes of an identity check. */
export type Verification = (typeof VERIFICATIONS)[number];

/** The cardholder of that id, removed or not; a missing one is refused. */
export const cardholderOf = (unit: Unit, id: string): CardholderRecord =>
  unit.get("cardholders", id) ?? refuse("Cardholder not found");

const create = (
  unit: Unit,
  request: Omit<
    CardholderRecord,
    "card_holder_id" | "card_holder_status" | "removed" | "create_time" | "update_time" | "due_at"
  > & { readonly card_holder_status: number },
  settings: SettingsShape,
) => {
  const card_holder_id = randomUUID();
  unit.put("cardholders", card_holder_id, {
    ...request,
    card_holder_id,
    // The check decides, whatever the request says.
    card_holder_status: "PENDING",
    removed: false,
    create_time: unit.time,
    update_time: unit.time,
    ...(settings.verifyAfter === undefined ? {} : { due_at: unit.now + settings.verifyAfter }),
  });
  return { card_holder_id };
};

/** Ends an identity check, or opens it again; no other end comes by itself afterwards. */
export const setVerification = (unit: Unit, id: string, status: Verification): void => {
  const { due_at: _, ...record } = cardholderOf(unit, id);
  unit.put("cardholders", id, { ...record, card_holder_status: status, update_time: unit.time });
};

/** The outcome of an identity check when its time has come; two last names are made to fail it. */
export const endVerification = (unit: Unit, id: string): void => {
  const { last_name } = cardholderOf(unit, id);
  setVerification(
    unit,
    id,
    last_name === "Refused" ? "FAILED" : last_name === "Incomplete" ? "INCOMPLETE" : "SUCCESS",
  );
};

const remove = (unit: Unit, id: string) => {
  const { due_at: _, ...record } = cardholderOf(unit, id);
  if (record.removed) refuse("Cardholder already removed");
  unit.put("cardholders", id, { ...record, removed: true, update_time: unit.time });
};

const view =
  (unit: Unit) =>
  (record: CardholderRecord): Cardholder => ({
    card_holder_id: record.card_holder_id,
    card_holder_status: record.card_holder_status,
    card_num: unit
      .all("cards")
      .filter(({ card_holder_id }) => card_holder_id === record.card_holder_id).length,
    first_name: record.first_name,
    last_name: record.last_name,
    create_time: record.create_time,
    update_time: record.update_time,
  });

interface Filters {
  readonly card_account_id?: string;
  readonly card_holder_status?: -1 | 0 | 1 | 2;
  readonly name?: string;
}

const matches =
  (unit: Unit, { card_account_id, card_holder_status, name }: Filters) =>
  (record: CardholderRecord): boolean =>
    !record.removed &&
    (card_account_id === undefined ||
      unit
        .all("cards")
        .some(
          (card) =>
            card.balance_id === card_account_id && card.card_holder_id === record.card_holder_id,
        )) &&
    (card_holder_status === undefined ||
      record.card_holder_status === STATUSES[card_holder_status]) &&
    (name === undefined ||
      `${record.first_name} ${record.last_name}`.toLowerCase().includes(name.toLowerCase()));

/** Operations of the group "cardholders". */
export const CardholderHandlers = HttpApiBuilder.group(
  SimulatedApi,
  "cardholders",
  Effect.fn(function* (handlers) {
    const store = yield* LedgerStore;
    const settings = yield* Settings;
    const temperament = yield* TemperamentInForce;
    return handlers.handleAll({
      createCardholder: ({ payload }) => store.transact((unit) => create(unit, payload, settings)),
      listCardholders: ({ query }) =>
        store.transact((unit) =>
          pageOf(temperament, unit, unit.all("cardholders").filter(matches(unit, query)), query, {
            idOf: ({ card_holder_id }) => card_holder_id,
            view: view(unit),
          }),
        ),
      removeCardholder: ({ params }) =>
        confirm(store, (unit) => remove(unit, params.card_holder_id)),
    });
  }),
);
