import type {
  CreateBeneficiaryInput,
  CreatePayoutInput,
  Input,
  UpdateBeneficiaryInput,
} from "@durable-payments/client/effect";
import { PayerSchema } from "@durable-payments/client/contract";
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

// The contract's schemas pick the fields that reads show.
const view = ({ beneficiary_id, details }: BeneficiaryRecord) => {
  const { account_currency = "", address = "", bank_country = "", ...others } = details;
  const account = { account_currency_code: account_currency, bank_country_code: bank_country };
  const { entity_type = "", payment_method = "" } = details;
  const named = Object.entries(details).map(
    ([field, value]) => [`beneficiary_${field}`, value] as const,
  );
  return {
    ...Object.fromEntries(named),
    ...account,
    beneficiary_id,
    entity_type,
    payment_method,
    beneficiary_bank_details: { ...others, ...account },
    beneficiary_address: { ...others, street_address: address },
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
export const retrieveBeneficiary = (
  unit: Unit,
  { beneficiary_id }: Input<"retrieveBeneficiary">,
) => {
  const record = beneficiaryOf(unit, beneficiary_id);
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

/** Lists the payers of the account. */
export const listPayers = (unit: Unit) =>
  unit.all("payers").map(({ details, payer_id }) => ({ ...details, payer_id }));
