import type {
  CreateBeneficiaryInput,
  CreatePayoutInput,
  UpdateBeneficiaryInput,
} from "@durable-payments/api-core";
import { PayerSchema } from "@durable-payments/api-core/contract";
import { randomUUID } from "node:crypto";
import type { RecordOf } from "./records.ts";
import { refuse, type Unit } from "./unit.ts";

type BeneficiaryRecord = RecordOf<"beneficiaries">;

/** The beneficiary of that id; a missing one is refused. */
export const beneficiaryOf = (unit: Unit, id: string): BeneficiaryRecord =>
  unit.get("beneficiaries", id) ?? refuse("Beneficiary not found");

/** The name of a beneficiary, a company or a person. */
export const beneficiaryName = ({ details }: BeneficiaryRecord): string =>
  details["company_name"] ?? `${details["first_name"] ?? ""} ${details["last_name"] ?? ""}`.trim();

const view = ({ beneficiary_id, details }: BeneficiaryRecord) => {
  const given = (field: string) => details[field] ?? "";
  const account = {
    account_currency_code: given("account_currency"),
    bank_country_code: given("bank_country"),
  };
  return {
    beneficiary_id,
    entity_type: given("entity_type"),
    payment_method: given("payment_method"),
    beneficiary_email: given("email"),
    beneficiary_nickname: given("nickname"),
    beneficiary_company_name: given("company_name"),
    beneficiary_first_name: given("first_name"),
    beneficiary_last_name: given("last_name"),
    ...account,
    // Its schema picks the fields that reads show under the name that was given.
    beneficiary_bank_details: { ...details, ...account },
    beneficiary_address: {
      country_code: given("country_code"),
      city: given("city"),
      street_address: given("address"),
      postal_code: given("postal_code"),
      state: given("state"),
    },
  };
};

/** Records a payee. */
export const createBeneficiary = (unit: Unit, request: CreateBeneficiaryInput) => {
  const record: BeneficiaryRecord = {
    beneficiary_id: randomUUID(),
    beneficiary_status: "pending",
    details: { ...request },
    create_time: unit.time,
    update_time: unit.time,
  };
  unit.put("beneficiaries", record.beneficiary_id, record);
  const { beneficiary_status, details } = record;
  return { ...view(record), beneficiary_status, account_number: details["account_number"] ?? "" };
};

/** Changes the fields of a payee that the request names. */
export const updateBeneficiary = (
  unit: Unit,
  { beneficiary_id, ...changes }: UpdateBeneficiaryInput,
): undefined => {
  const record = beneficiaryOf(unit, beneficiary_id);
  const details = { ...record.details, ...changes };
  unit.put("beneficiaries", beneficiary_id, { ...record, details, update_time: unit.time });
};

/** Returns a payee, with a summary of the account. */
export const retrieveBeneficiary = (unit: Unit, id: string) => {
  const record = beneficiaryOf(unit, id);
  const { account_currency = "", account_number, iban = "" } = record.details;
  const ending = (account_number ?? iban).slice(-4);
  return {
    ...view(record),
    beneficiary_summary: `${beneficiaryName(record)}, ${account_currency} account ending in ${ending}`,
  };
};

/** Records a payer and returns its id. */
export const addPayer = (unit: Unit, details: RecordOf<"payers">["details"]): string => {
  const payer_id = randomUUID();
  unit.put("payers", payer_id, { payer_id, details });
  return payer_id;
};

/** The payer of a payout: the one that it names, the one that it describes, or else the account's owner. */
export const payerOf = (unit: Unit, payout: CreatePayoutInput): string => {
  const { birth_date = "", entity_type, payer_id = "" } = payout;
  if (payer_id !== "" || entity_type === undefined) {
    const [owner] = unit.all("payers");
    const payer = payer_id === "" ? owner : unit.get("payers", payer_id);
    return payer?.payer_id ?? refuse("Payer not found");
  }
  const given = Object.entries(payout).filter(([field]) => field in PayerSchema.fields);
  return addPayer(unit, { ...Object.fromEntries(given), date_of_birth: birth_date });
};

/** Lists who pays out of the account. */
export const listPayers = (unit: Unit) =>
  unit.all("payers").map(({ details, payer_id }) => ({ ...details, payer_id }));
