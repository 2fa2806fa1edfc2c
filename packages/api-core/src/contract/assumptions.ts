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
   * Time zone of times in answers without an offset: an IANA name, or an offset such as +08:00. If unknown, such a
   * time may be in any zone from UTC-12:00 to UTC+14:00.
   */
  timeZone: Schema.String.check(isTimeZone),
  /**
   * Message of a success, trimmed. If a write is answered with code 200 and another message, or refused with this
   * message, its outcome is unknown.
   */
  successMessage: Pattern,
  /** HTTP statuses and envelope codes that mark a missing, invalid or expired token. */
  rejectedTokenCodes: Schema.Array(Schema.Int),
  /**
   * Messages of refusals that mark a missing, invalid or expired token. If it persists with a token that ping
   * accepts, or with a fresh one, it is a refusal.
   */
  rejectedTokenMessage: Pattern,
  /** How long a token is used if the sign-in answer has no readable expiry. */
  tokenLifetimeSeconds: Schema.Int.check(Schema.isGreaterThan(0)),
  /**
   * How long a token lives without a request. It is renewed earlier, in the last 30 seconds or the last tenth of that
   * time.
   */
  tokenIdleSeconds: Schema.Int.check(Schema.isGreaterThan(0)),
  /** Messages of refused sign-ins that mean: too many requests. */
  signInLimitMessage: Pattern,
  /**
   * HTTP statuses of answers without an envelope that mean: not carried out. 408, 429 and 5xx may have an envelope; 409
   * is not allowed. Other statuses leave a write's outcome unknown: a gateway may send them after the service
   * has carried out the request. Add 401 if the service rejects tokens without an envelope.
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
   * Most pages of a list, of 50 rows each, that a reconciliation reads. If a list has more, a person is asked.
   */
  reconciliationMaxPages: Schema.Int.check(Schema.isGreaterThan(0)),
  /** Largest difference between the service's clock and ours. */
  clockSkewSeconds: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  /**
   * What the list of payouts shows as unique_request_id: the key that was sent (same), no key of ours (none), or
   * unknown.
   */
  payoutKeyEcho: Schema.Literals(["same", "none", "unknown"]),
  /** Whether createPayout sends unique_request_id in its body. */
  payoutKeyInBody: Schema.Boolean,
  /**
   * Fields that retrievePayout shows as they were sent or created. An answer with another payout_id is ignored; another
   * amount, currency or beneficiary_id ends the run with PayoutDiffers. An amount may be grouped, or differ by the
   * fee that is shown.
   */
  payoutFieldsAsSent: Schema.Array(
    Schema.Literals(["payout_id", "amount", "currency", "beneficiary_id"]),
  ),
  /**
   * Request fields that the answer of a write shows as they were sent, if it shows them. If one differs, the outcome
   * is unknown. An amount may have other digits, be grouped, or differ by the fee that is shown. An id may differ in
   * capitals and punctuation. An account or card number may be masked or cut.
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
  /** Statuses of a payout that is completed. */
  payoutCompletedStatuses: Statuses,
  /** Statuses of a payout that ended without being paid. */
  payoutFailedStatuses: Statuses,
  /**
   * Further statuses of a payout whose money came back or was never paid. With a complete_time, it has failed.
   */
  payoutReturnedStatus: Pattern,
  /**
   * Statuses of a payout that count as completed once it has a complete_time; a missing status does, too. With any
   * other status the payout stays open, unless payoutReturnedStatus names it.
   */
  payoutPaidStatus: Pattern,
  /** Whether a complete_time completes a payout whose status is missing or matches payoutPaidStatus. */
  completeTimeCompletes: Schema.Boolean,
  /** Statuses of a cardholder whose identity check passed. */
  cardholderVerifiedStatuses: Statuses,
  /** Statuses of a cardholder whose identity check failed. */
  cardholderRefusedStatuses: Statuses,
  /** Statuses of a cardholder whose identity check is incomplete. */
  cardholderIncompleteStatuses: Statuses,
  /**
   * Messages that refuse a known unique_request_id, as HTTP 409 does: the request may have been carried out. Only
   * considered if the request may have been sent before.
   */
  repeatedKeyRefusal: Pattern,
  /** Messages of refusals that mean: it is already so. They count as success. */
  alreadySoRefusals: texts(
    ["createBalance", "removeCardholder", "cancelCard", "freezeCard"],
    Pattern,
  ),
  /** Most decimal places of an amount that is sent: those of the currency, or a number. */
  amountFractionDigits: Schema.Union([
    Schema.Literal("iso4217"),
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 18 })),
  ]),
};

/**
 * Every point that the service's document leaves open, one setting each. Override any of them by
 * `PAYMENTS_ASSUMPTIONS` (a JSON object of the settings to change) or by the client's option.
 * Statuses and regular expressions ignore case.
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
