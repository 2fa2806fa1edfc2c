import * as Option from "effect/Option";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { get } from "effect/http-api/HttpApiEndpoint";
import { isRecord } from "../values.ts";
import { answer, answeredId, answeredOrUnset, enveloped, readBy, readerOf } from "./answers.ts";
import { endpointGroup, Idempotency, SignedIn } from "./operation-facts.ts";
import { type Named, named } from "./rules.ts";

/** A payer of payouts from the account; unset fields are absent. */
export interface Payer extends Named<typeof PayerSchema> {}
export const PayerSchema = named<Payer>()({
  /** The service's id of the payer. */
  payer_id: answeredId,
  /** `company` or `individual`. */
  entity_type: answeredOrUnset,
  /** Name of a company. */
  company_name: answeredOrUnset,
  /** First name of a person. */
  first_name: answeredOrUnset,
  /** Last name of a person. */
  last_name: answeredOrUnset,
  /** Street and number. */
  address: answeredOrUnset,
  /** City. */
  city: answeredOrUnset,
  /** State or province. */
  state_or_province: answeredOrUnset,
  /** Two-letter country code (ISO 3166-1), such as `US`. */
  country: answeredOrUnset,
  /** Postal code. */
  postal_code: answeredOrUnset,
  /** Day of birth of a person, as the service writes it. */
  date_of_birth: answeredOrUnset,
  /** Document that identifies the payer, such as `passport`. */
  identification_type: answeredOrUnset,
  /** Number of that document. */
  identification_value: answeredOrUnset,
});

const Answered = answer(PayerSchema);

const readPayer = readerOf(Answered);

/**
 * The payers of an answer. The service's sample nests envelopes inside the array of payers; both forms are read as
 * payers. A row that has no readable id is left out.
 */
const Payers = readBy(Schema.Array(Answered), (data) => {
  const listed: unknown = data === null ? [] : data;
  if (!Array.isArray(listed)) return Result.fail({ field: "", problem: "is not a list" });
  const payersIn = (row: unknown) => Option.toArray(Result.getSuccess(readPayer(row)));
  const rows = listed.flatMap((row: unknown) => {
    const payer = payersIn(row);
    return payer.length === 0 && isRecord(row) ? [row["data"]].flat().flatMap(payersIn) : payer;
  });
  return Result.succeed(rows);
});

/** Source: service interface, "Payers". */
export const payerOperations = {
  /**
   * List everyone who pays payouts out of the account.
   *
   * Idempotency class `safe`: it only reads, and is sent again after a lost answer.
   *
   * @example
   * const [payer] = await client.listPayers();
   */
  listPayers: get("listPayers", "/payers", {
    success: enveloped(Payers),
  }).annotate(Idempotency, "safe"),
};

/** The payers of the service. */
export const payers = endpointGroup("payers", payerOperations).middleware(SignedIn);
