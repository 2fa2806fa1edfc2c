const payoutTimes = ["create_time", "update_time"];

const payoutRead = [
  "payout_id",
  "payout_status",
  "payout_reason",
  "payout_reference",
  "beneficiary_id",
  "unique_request_id",
  "amount",
  "fee_amount",
  "currency",
  "fee_paid_by",
  ...payoutTimes,
  "complete_time",
];

const beneficiaryRead = [
  "beneficiary_id",
  "entity_type",
  "payment_method",
  "beneficiary_email",
  "beneficiary_nickname",
  "beneficiary_company_name",
  "beneficiary_first_name",
  "beneficiary_last_name",
  "account_currency_code",
  "bank_country_code",
  "beneficiary_bank_details",
  "beneficiary_address",
];

/**
 * The fields of an answer's `data`, or of its rows, where one resource has several shapes.
 *
 * Source: service interface, "Resources and their fields".
 */
export const DOCUMENTED_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    "createPayout",
    new Set([
      "id",
      "amount",
      "currency",
      "beneficiary_id",
      "payer_id",
      "payment_date",
      "reason",
      "reference",
      "short_reference",
      "status",
      "unique_request_id",
      ...payoutTimes,
    ]),
  ],
  ["listPayouts", new Set([...payoutRead, "reference_id", "payment_date", "beneficiary_name"])],
  ["retrievePayout", new Set([...payoutRead, "short_reference_id", "payout_date", "payer_id"])],
  ["createBeneficiary", new Set([...beneficiaryRead, "beneficiary_status", "account_number"])],
  ["retrieveBeneficiary", new Set([...beneficiaryRead, "beneficiary_summary"])],
]);
