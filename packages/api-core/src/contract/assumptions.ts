import * as Schema from "effect/Schema";

const texts = (fields: ReadonlyArray<string>, value: typeof Schema.NonEmptyString) =>
  Schema.Record(Schema.Literals(fields), value);

const names = (fields: ReadonlyArray<string>) => texts(fields, Schema.NonEmptyString);

const Statuses = Schema.Array(Schema.String);

const isPattern = Schema.makeFilter(
  (source: string) => {
    try {
      return new RegExp(source, "i").source !== "";
    } catch {
      return "must be a regular expression";
    }
  },
  { toJsonSchema: () => ({ format: "regex" }) },
);

const isTimeZone = Schema.makeFilter((timeZone: string) => {
  if (timeZone === "unknown") return true;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone }).resolvedOptions().timeZone !== "";
  } catch {
    return "must be unknown, or a time zone, such as UTC, Asia/Singapore or +08:00";
  }
});

const Pattern = Schema.NonEmptyString.check(isPattern);

const assumptionFields = {
  /** HTTP method of updateBeneficiary. */
  updateBeneficiaryMethod: Schema.Literals(["POST", "PUT", "PATCH"]),
  /** Wire names of the filters of listPayouts. */
  listPayoutsParameters: names([
    "date_type",
    "scope",
    "short_reference_id",
    "status",
    "start",
    "end",
  ]),
  /** Wire names of the filters of listTransactions. */
  listTransactionsParameters: names([
    "page_num",
    "page_size",
    "scope",
    "short_reference_id",
    "transaction_type",
    "transaction_status",
    "date_type",
    "start",
    "end",
  ]),
  /** Wire names of the filters of listCardholders. */
  listCardholdersParameters: names([
    "direct_account_id",
    "card_account_id",
    "card_holder_status",
    "name",
  ]),
  /** Wire name of the delivery address in createCardholder. */
  deliveryAddressField: Schema.NonEmptyString,
  /** Unit in which the bounds of date ranges are sent. */
  rangeBoundUnit: Schema.Literals(["milliseconds", "seconds"]),
  /**
   * Zone of the times and dates in answers that carry no offset: an IANA name, or an offset such as +08:00.
   * While it is unknown, such a time may be of any zone, from UTC-12:00 to UTC+14:00.
   */
  timeZone: Schema.String.check(isTimeZone),
  /**
   * The message of a success, trimmed. A write that is answered with code 200 and another one, or with a
   * refusal of this one, has an unknown outcome.
   */
  successMessage: Pattern,
  /** HTTP statuses and envelope codes that mark a missing, invalid or expired token. */
  rejectedTokenCodes: Schema.Array(Schema.Int),
  /**
   * Messages of refusals that mark a missing, invalid or expired token. One that stays with a token that
   * ping accepts, or with a fresh one, is a refusal.
   */
  rejectedTokenMessage: Pattern,
  /** How long a token is used when the sign-in answer carries no expiry that can be read. */
  tokenLifetimeSeconds: Schema.Int.check(Schema.isGreaterThan(0)),
  /**
   * How long a token lives without a request; it is renewed before, in the last 30 seconds or the last tenth
   * of that time.
   */
  tokenIdleSeconds: Schema.Int.check(Schema.isGreaterThan(0)),
  /** Messages of refusals of a sign-in that mean: too many requests. */
  signInLimitMessage: Pattern,
  /**
   * HTTP statuses (408, 429, from 500 on, and each 4xx without an envelope but 409) which mean: not
   * carried out. Each that is not listed leaves a write's outcome unknown: a gateway may answer so after the
   * service has carried it out. 400 and 422 judge the request before it is carried out, 429 turns it away. List
   * 401 where the service itself rejects tokens without an envelope.
   */
  notCarriedOutStatuses: Schema.Array(
    Schema.Int.check(
      Schema.makeFilter(
        (status) =>
          (status >= 400 && status < 600 && status !== 409) ||
          "must be from 400 to 599, and not 409",
      ),
    ),
  ),
  /** How long a new payout or cardholder may be missing from its list. */
  listLagSeconds: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  /**
   * Most pages of a list, of 50 rows each, that a reconciliation reads; where a list has more, a person is
   * asked.
   */
  reconciliationMaxPages: Schema.Int.check(Schema.isGreaterThan(0)),
  /** How far the service's clock may be from ours. */
  clockSkewSeconds: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  /**
   * What the list of payouts shows as unique_request_id: the key that was sent (same), no key of ours (none), or unknown.
   */
  payoutKeyEcho: Schema.Literals(["same", "none", "unknown"]),
  /** Whether createPayout sends unique_request_id in its body. */
  payoutKeyInBody: Schema.Boolean,
  /**
   * What retrievePayout shows of a payout as it was sent, or as the creation answered it. An answer with
   * another payout_id is no answer; one with another amount, currency or beneficiary_id ends the run with
   * PayoutContradicted. An amount may be grouped, or differ by the fee that is shown.
   */
  payoutFieldsAsSent: Schema.Array(
    Schema.Literals(["payout_id", "amount", "currency", "beneficiary_id"]),
  ),
  /**
   * Fields of a write's request which its answer shows as they were sent, where it shows them: an answer with
   * another one is about something else, and the outcome of the write is unknown. An amount may have another
   * number of digits, be grouped, or differ by the fee that is shown; an id may be in other capitals, with other
   * punctuation; an account or card number may be masked, or a part of it.
   */
  echoedFields: Schema.Struct({
    createPayout: Schema.Array(
      Schema.Literals(["amount", "currency", "beneficiary_id", "payer_id", "unique_request_id"]),
    ),
    createCard: Schema.Array(Schema.Literal("unique_request_id")),
    withdrawFromCard: Schema.Array(
      Schema.Literals(["amount", "card_id", "card_number", "unique_request_id"]),
    ),
    createBeneficiary: Schema.Array(
      Schema.Literals(["account_currency", "account_number", "iban"]),
    ),
  }),
  /** Statuses that complete a payout, beside a complete_time that is set. */
  payoutCompletedStatuses: Statuses,
  /** Statuses with which a payout has ended without being paid. */
  payoutFailedStatuses: Statuses,
  /**
   * Statuses of a payout that say that its money came back or was never paid, beside payoutFailedStatuses:
   * with a complete_time that is set it has failed.
   */
  payoutReturnedStatus: Pattern,
  /**
   * Statuses of a payout that a complete_time that is set completes; so does one that is missing. Of any
   * status that neither this nor payoutReturnedStatus names, the payout stays open: nobody knows whether it
   * was paid.
   */
  payoutPaidStatus: Pattern,
  /** Whether a complete_time that is set completes a payout of the status payoutPaidStatus, or of none. */
  completeTimeCompletes: Schema.Boolean,
  /** Statuses of a cardholder whose identity check passed. */
  cardholderVerifiedStatuses: Statuses,
  /** Statuses of a cardholder whose identity check failed. */
  cardholderRefusedStatuses: Statuses,
  /** Statuses of a cardholder whose identity check lacks something. */
  cardholderIncompleteStatuses: Statuses,
  /** Statuses of a card that was not issued after all. */
  cardRefusedStatuses: Statuses,
  /**
   * Messages by which the service refuses a unique_request_id that it knows, beside HTTP 409: perhaps
   * carried out before. Only where the request may have been sent before.
   */
  repeatedKeyRefusal: Pattern,
  /** Messages by which these operations say that things are already so: success. */
  alreadySoRefusals: texts(
    ["createBalance", "removeCardholder", "cancelCard", "freezeCard"],
    Pattern,
  ),
  /** Most digits after the point in an amount that is sent: the currency's own, or a number. */
  amountFractionDigits: Schema.Union([
    Schema.Literal("iso4217"),
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 18 })),
  ]),
};

/**
 * Every point that the service's document leaves open, one setting each. Override any of them by
 * `PAYMENTS_ASSUMPTIONS` (a JSON object of the settings to change) or by the client's option.
 * Patterns are regular expressions, matched without regard to case; statuses likewise.
 */
export interface Assumptions extends Schema.Struct.Type<typeof assumptionFields> {}

/** Schema of {@link Assumptions}. */
export const AssumptionsSchema = Schema.Struct(assumptionFields);

/** What is assumed where nobody says otherwise. */
export const defaultAssumptions: Assumptions = {
  updateBeneficiaryMethod: "POST",
  listPayoutsParameters: {
    date_type: "date_type",
    scope: "scope",
    short_reference_id: "short_reference_id",
    status: "status",
    start: "start_time",
    end: "end_time",
  },
  listTransactionsParameters: {
    page_num: "page_num",
    page_size: "page_size",
    scope: "scope",
    short_reference_id: "short_reference_id",
    transaction_type: "transaction_type",
    transaction_status: "transaction_status",
    date_type: "date_type",
    start: "start_time",
    end: "end_time",
  },
  listCardholdersParameters: {
    direct_account_id: "direct_account_id",
    card_account_id: "card_account_id",
    card_holder_status: "card_holder_status",
    name: "name",
  },
  deliveryAddressField: "delivery_address",
  rangeBoundUnit: "milliseconds",
  timeZone: "unknown",
  successMessage: "^success$",
  rejectedTokenCodes: [401],
  rejectedTokenMessage:
    "unauthori[sz]ed|un-?authenticated|not (authenticated|logged in|signed in)|" +
    "(token|session|jwt|log-?in|authentication).*(expired|invalid|missing|time(d |-)?out)|" +
    "(expired|invalid|missing).*(token|session|jwt)",
  tokenLifetimeSeconds: 600,
  tokenIdleSeconds: 600,
  signInLimitMessage: "too many|rate limit|too frequent|limit exceeded",
  notCarriedOutStatuses: [400, 422, 429],
  listLagSeconds: 180,
  reconciliationMaxPages: 1_000,
  clockSkewSeconds: 900,
  payoutKeyEcho: "unknown",
  payoutKeyInBody: true,
  payoutFieldsAsSent: ["payout_id", "amount", "currency", "beneficiary_id"],
  echoedFields: {
    // Payouts may be shown with a key of the service's own: payoutKeyEcho.
    createPayout: ["amount", "currency", "beneficiary_id"],
    createCard: ["unique_request_id"],
    withdrawFromCard: ["amount", "card_id", "card_number", "unique_request_id"],
    createBeneficiary: ["account_currency", "account_number", "iban"],
  },
  payoutCompletedStatuses: ["completed"],
  payoutFailedStatuses: ["failed", "rejected", "cancelled", "canceled", "returned"],
  payoutReturnedStatus:
    "revers|return|refund|recall|charge|fail|declin|reject|refus|denied|bounce|cancel|abort|void|" +
    "expire|error|nullif|annul|withdr[ae]w|revok|rescind|dishono|sent[ _-]?back|unsuccess|unpaid|" +
    "not[ _-]?(complet|paid|sent|success)",
  // Whole statuses only: `partially_paid` or `sent for review` may say anything. `processing` is among
  // them: the one status that the document shows, which says too that the time is unset until completion.
  payoutPaidStatus:
    "^\\s*((payout|payment|funds?|money|trade|transfer|transaction)[ _-]?)?(is[ _-]|was[ _-]|has[ _-]been[ _-])?" +
    "(complete|completed|paid|paid[ _-]out|settled|success|successful|succeeded|succeed|done|closed|finished|" +
    "finali[sz]ed|executed|processed|processing|sent|delivered|credited|arrived|" +
    "cleared|disbursed|transferred)\\s*$",
  completeTimeCompletes: true,
  cardholderVerifiedStatuses: ["SUCCESS", "1"],
  cardholderRefusedStatuses: ["FAILED", "-1"],
  cardholderIncompleteStatuses: ["INCOMPLETE", "2"],
  cardRefusedStatuses: ["failed", "rejected", "cancelled", "canceled"],
  repeatedKeyRefusal:
    "duplicate|repeat|already|ignored|been processed|" +
    "(unique_request_id|request id|idempoten\\w*).*(used|exist|taken|known|processed)",
  alreadySoRefusals: {
    createBalance: "^(?!.*\\bname\\b).*already (exist|created|open)",
    removeCardholder: "already (been )?(removed|deleted)",
    cancelCard: "already (been )?cancell?ed",
    freezeCard: "already (been )?frozen",
  },
  amountFractionDigits: "iso4217",
};
