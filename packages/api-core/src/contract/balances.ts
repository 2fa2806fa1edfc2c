import * as Schema from "effect/Schema";
import * as SchemaGetter from "effect/SchemaGetter";
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint";
import * as HttpApiGroup from "effect/http-api/HttpApiGroup";
import { confirmed, enveloped, Refusal } from "./envelope.ts";
import {
  answered,
  answeredId,
  answeredList,
  answeredOrUnset,
  PathSegment,
  text,
} from "./fields.ts";
import { Idempotency } from "./operation-facts.ts";
import { SignedIn } from "./signed-in.ts";

/** A currency as the service names it: any text, and three letters in capitals, however given. */
const currencyIn = <S extends Schema.Codec<string, string>>(schema: S) =>
  schema.pipe(
    Schema.decodeTo(schema, {
      decode: SchemaGetter.passthrough(),
      encode: SchemaGetter.transform((currency: string) =>
        /^[a-z]{3}$/i.test(currency) ? currency.toUpperCase() : currency,
      ),
    }),
  );

/** Body of createBalance. */
const CreateBalance = Schema.Struct({ currency: currencyIn(text()), name: text(60) });

/** What an account holds in one currency; `available_balance` is a decimal string. */
export const Balance = Schema.Struct({
  balance_id: answeredId,
  currency: answered,
  available_balance: answered,
});

/** What an account holds in one currency. */
export type Balance = typeof Balance.Type;

/** One bank account by which a balance can be funded. */
const FundingAccount = Schema.Struct({
  account_bank_id: answeredOrUnset,
  account_id: answeredOrUnset,
  account_holder: answeredOrUnset,
  account_number: answeredOrUnset,
  bank_name: answeredOrUnset,
  bank_code: answeredOrUnset,
  bank_address: answeredOrUnset,
  country_code: answeredOrUnset,
  currency_code: answeredOrUnset,
  /** SG-FAST, RTGS, GIRO, US-ACH, Fedwire, SEPA, Faster Payments, CHAPS, Bacs, Zengin, … */
  clearing_system_type: answeredOrUnset,
  clearing_system_code: answeredOrUnset,
  /** To be quoted in the remarks of the transfer. */
  payment_reference: answeredOrUnset,
});

/** The bank accounts by which a balance can be funded. */
export const BalanceBankDetails = Schema.Struct({
  local: answeredList(FundingAccount),
  swift: answeredList(FundingAccount),
  status: answeredOrUnset,
});

/** The bank accounts by which a balance can be funded. */
export type BalanceBankDetails = typeof BalanceBankDetails.Type;

const params = { currency: currencyIn(PathSegment) };

/** Source: service interface, "Balances". */
export const balances = HttpApiGroup.make("balances", { topLevel: true })
  .add(
    HttpApiEndpoint.post("createBalance", "/api/v1/balances/create", {
      payload: CreateBalance,
      success: confirmed,
      error: Refusal,
    }).annotate(Idempotency, "idempotent"),
    HttpApiEndpoint.get("retrieveBalance", "/api/v1/balances/retrieve/:currency", {
      params,
      success: enveloped(Balance),
      error: Refusal,
    }).annotate(Idempotency, "safe"),
    HttpApiEndpoint.get("retrieveBalanceBankDetails", "/api/v1/balances/:currency/bank_details", {
      params,
      success: enveloped(BalanceBankDetails),
      error: Refusal,
    }).annotate(Idempotency, "safe"),
  )
  .middleware(SignedIn);
