import * as Schema from "effect/Schema";
import * as SchemaGetter from "effect/SchemaGetter";
import { get, post } from "effect/http-api/HttpApiEndpoint";
import {
  answer,
  answered,
  answeredId,
  answeredList,
  answeredOrUnset,
  confirmed,
  enveloped,
} from "./answers.ts";
import { PathSegment, text } from "./fields.ts";
import { endpointGroup, Idempotency, SignedIn } from "./operation-facts.ts";
import { type Named, named } from "./rules.ts";

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

/** Fields of createBalance. */
export interface CreateBalanceInput extends Named<typeof CreateBalanceInputSchema> {}
const CreateBalanceInputSchema = named<CreateBalanceInput>()({
  /** Currency of the balance, as the service names it, such as `USD`. */
  currency: currencyIn(text()),
  /** Name of the balance, 1 to 60 characters. */
  name: text(60),
});

/** Money of an account in one currency. */
export interface Balance extends Named<typeof BalanceSchema> {}
const BalanceSchema = named<Balance>()({
  /** The service's id of the balance. */
  balance_id: answeredId,
  /** Currency, as the service names it, such as `USD`. */
  currency: answered,
  /** Available amount: a decimal string in units of `currency`, such as `"1250.00"`. */
  available_balance: answered,
});

/** One bank account by which a balance can be funded; unset fields are absent. */
export interface FundingAccount extends Named<typeof FundingAccountSchema> {}
const FundingAccountSchema = named<FundingAccount>()({
  /** The service's id of the bank account. */
  account_bank_id: answeredOrUnset,
  /** The service's id of the account that it funds. */
  account_id: answeredOrUnset,
  /** Name of the account's holder. */
  account_holder: answeredOrUnset,
  /** Number of the bank account. */
  account_number: answeredOrUnset,
  /** Name of the bank. */
  bank_name: answeredOrUnset,
  /** Code of the bank. */
  bank_code: answeredOrUnset,
  /** Address of the bank. */
  bank_address: answeredOrUnset,
  /** Two-letter country code (ISO 3166-1), such as `US`. */
  country_code: answeredOrUnset,
  /** Three-letter currency code (ISO 4217), such as `USD`. */
  currency_code: answeredOrUnset,
  /** SG-FAST, RTGS, GIRO, US-ACH, Fedwire, SEPA, Faster Payments, CHAPS, Bacs, Zengin, … */
  clearing_system_type: answeredOrUnset,
  /** Number or code of the bank in that system. */
  clearing_system_code: answeredOrUnset,
  /** To be quoted in the remarks of the transfer. */
  payment_reference: answeredOrUnset,
});

/** The bank accounts by which a balance can be funded. */
export interface BalanceBankDetails extends Named<typeof BalanceBankDetailsSchema> {}
const BalanceBankDetailsSchema = named<BalanceBankDetails>()({
  /** Accounts for transfers within their country. */
  local: answeredList(answer(FundingAccountSchema)),
  /** Accounts for transfers by SWIFT. */
  swift: answeredList(answer(FundingAccountSchema)),
  /** State in the service's own words, such as `opened`. */
  status: answeredOrUnset,
});

const byCurrencyFields = {
  /** Currency of the balance, as the service names it, such as `USD`. */
  currency: currencyIn(PathSegment),
};

/** Source: service interface, "Balances". */
export const balanceOperations = {
  /**
   * Open a balance in a currency.
   *
   * Idempotency class `idempotent`: sent twice it leaves one balance; it is sent again after a lost answer.
   *
   * @example
   * await client.createBalance({ currency: "EUR", name: "Suppliers in Europe" });
   */
  createBalance: post("createBalance", "/balances/create", {
    payload: CreateBalanceInputSchema,
    success: confirmed,
  }).annotate(Idempotency, "idempotent"),
  /**
   * Read what the account holds in one currency: `available_balance` is a decimal string.
   *
   * Idempotency class `safe`: it only reads, and is sent again after a lost answer.
   *
   * @example
   * const { available_balance } = await client.retrieveBalance({ currency: "USD" });
   */
  retrieveBalance: get("retrieveBalance", "/balances/retrieve/:currency", {
    params: byCurrencyFields,
    success: enveloped(answer(BalanceSchema)),
  }).annotate(Idempotency, "safe"),
  /**
   * Read the bank accounts by which a balance can be funded.
   *
   * Idempotency class `safe`: it only reads, and is sent again after a lost answer.
   *
   * @example
   * const { local, swift } = await client.retrieveBalanceBankDetails({ currency: "USD" });
   */
  retrieveBalanceBankDetails: get(
    "retrieveBalanceBankDetails",
    "/balances/:currency/bank_details",
    {
      params: byCurrencyFields,
      success: enveloped(answer(BalanceBankDetailsSchema)),
    },
  ).annotate(Idempotency, "safe"),
};

/** The balances of the service. */
export const balances = endpointGroup("balances", balanceOperations).middleware(SignedIn);
