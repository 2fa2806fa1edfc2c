import { Effect } from "effect";
import { HttpApiBuilder } from "effect/http-api";
import { randomUUID } from "node:crypto";
import { LedgerStore, type Unit } from "../ledger/ledger-store.ts";
import type { RecordOf } from "../ledger/records.ts";
import { confirm } from "./confirm.ts";
import { refuse } from "./refuse.ts";
import { SimulatedApi } from "./simulated-api.ts";

type BeneficiaryRecord = RecordOf<"beneficiaries">;

/** The beneficiary of that id; another one is refused. */
export const beneficiaryOf = (unit: Unit, id: string): BeneficiaryRecord =>
  unit.get("beneficiaries", id) ?? refuse("Beneficiary not found");

/** The beneficiary as a person or company is called. */
export const beneficiaryName = ({ details }: BeneficiaryRecord): string =>
  details["company_name"] ?? `${details["first_name"] ?? ""} ${details["last_name"] ?? ""}`.trim();

/** The fields of create and update that reads give back under the same name. */
const BANK_FIELDS = [
  "bank_name",
  "bank_address",
  "account_holder",
  "account_number",
  "iban",
  "swift_code",
  "clearing_system",
  "routing_code_type1",
  "routing_code_value1",
  "routing_code_type2",
  "routing_code_value2",
] as const;

const view = ({ beneficiary_id, beneficiary_status, details }: BeneficiaryRecord) => {
  const given = (field: string) => details[field] ?? "";
  return {
    beneficiary_id,
    beneficiary_status,
    entity_type: given("entity_type"),
    payment_method: given("payment_method"),
    beneficiary_email: given("email"),
    beneficiary_nickname: given("nickname"),
    beneficiary_company_name: given("company_name"),
    beneficiary_first_name: given("first_name"),
    beneficiary_last_name: given("last_name"),
    account_number: given("account_number"),
    account_currency_code: given("account_currency"),
    bank_country_code: given("bank_country"),
    beneficiary_bank_details: {
      ...Object.fromEntries(BANK_FIELDS.map((field) => [field, given(field)])),
      bank_country_code: given("bank_country"),
      account_currency_code: given("account_currency"),
    },
    beneficiary_address: {
      country_code: given("country_code"),
      city: given("city"),
      street_address: given("address"),
      postal_code: given("postal_code"),
      state: given("state"),
    },
  };
};

const summary = (record: BeneficiaryRecord): string => {
  const { details } = record;
  const number = details["account_number"] ?? details["iban"] ?? "";
  return `${beneficiaryName(record)}, ${details["account_currency"] ?? ""} account ending in ${number.slice(-4)}`;
};

const create = (unit: Unit, details: BeneficiaryRecord["details"]) => {
  const record: BeneficiaryRecord = {
    beneficiary_id: randomUUID(),
    beneficiary_status: "pending",
    details,
    create_time: unit.time,
    update_time: unit.time,
  };
  unit.put("beneficiaries", record.beneficiary_id, record);
  return view(record);
};

const update = (unit: Unit, id: string, changes: BeneficiaryRecord["details"]) => {
  const record = beneficiaryOf(unit, id);
  const details = { ...record.details, ...changes };
  unit.put("beneficiaries", id, { ...record, details, update_time: unit.time });
};

/** updateBeneficiary, apart from its group: it may be served by another method than the contract's. */
export const updateBeneficiary = HttpApiBuilder.handler(
  SimulatedApi,
  "beneficiaries",
  "updateBeneficiary",
  ({ params, payload }) =>
    Effect.flatMap(LedgerStore, (store) =>
      confirm(store, (unit) => update(unit, params.beneficiary_id, payload)),
    ),
);

/** Operations of the group "beneficiaries". */
export const BeneficiaryHandlers = HttpApiBuilder.group(
  SimulatedApi,
  "beneficiaries",
  Effect.fn(function* (handlers) {
    const store = yield* LedgerStore;
    return handlers.handleAll({
      createBeneficiary: ({ payload }) => store.transact((unit) => create(unit, payload)),
      updateBeneficiary,
      retrieveBeneficiary: ({ params }) =>
        store.transact((unit) => {
          const record = beneficiaryOf(unit, params.beneficiary_id);
          return { ...view(record), beneficiary_summary: summary(record) };
        }),
    });
  }),
);
