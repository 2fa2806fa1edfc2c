import * as Schema from "effect/Schema";
import { parameters } from "./list-parameters.ts";

const names = (list: keyof typeof parameters) =>
  Schema.Record(Schema.Literals(Object.keys(parameters[list])), Schema.NonEmptyString);

const Texts = Schema.Array(Schema.NonEmptyString);

const isTimeZone = Schema.makeFilter((timeZone: string) => {
  if (timeZone === "unknown") return true;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone }).resolvedOptions().timeZone !== "";
  } catch {
    return "must be unknown, or a time zone, such as UTC, Asia/Singapore or +08:00";
  }
});

const assumptionFields = {
  /** HTTP method of updateBeneficiary. */
  updateBeneficiaryMethod: Schema.Literals(["POST", "PUT", "PATCH"]),
  /** Wire names of the filters of listPayouts. */
  listPayoutsParameters: names("listPayoutsParameters"),
  /** Wire names of the filters of listTransactions. */
  listTransactionsParameters: names("listTransactionsParameters"),
  /** Wire names of the filters of listCardholders. */
  listCardholdersParameters: names("listCardholdersParameters"),
  /** Wire name of the delivery address in createCardholder. */
  deliveryAddressField: Schema.NonEmptyString,
  /** Unit in which the bounds of date ranges are sent. */
  rangeBoundUnit: Schema.Literals(["milliseconds", "seconds"]),
  /**
   * Time zone of times in responses without an offset: an IANA name, or an offset such as +08:00. If unknown, such a
   * time may be in any zone from UTC-12:00 to UTC+14:00.
   */
  timeZone: Schema.String.check(isTimeZone),
  /**
   * Whether lists of payouts can be read in a window of create_time or settle_time (createTime), or only whole (none).
   * A window is believed only after a check against known payouts. If the check fails, whole lists are read.
   */
  listWindow: Schema.Literals(["createTime", "none"]),
  /** HTTP statuses and envelope codes that mark a missing, invalid or expired token. */
  rejectedTokenCodes: Schema.Array(Schema.Int),
  /**
   * Words in a refusal that may mean a missing, invalid or expired token. The client then signs in again and
   * sends once more. If a fresh token gets the same words, the response counts as a
   * refusal.
   */
  rejectedTokenWords: Texts,
  /**
   * How long a token is used if the sign-in response has no readable expiry, or no `Date`. The expiry is compared with
   * `Date`, because the service's clock may differ from ours. A stated life of more than 30 minutes counts as 30 minutes.
   */
  tokenLifetimeSeconds: Schema.Int.check(Schema.isGreaterThan(0)),
  /**
   * How long a token stays valid without a request. It is renewed earlier: in the last 30 seconds, or in the last
   * tenth of that time.
   */
  tokenIdleSeconds: Schema.Int.check(Schema.isGreaterThan(0)),
  /**
   * HTTP statuses which mean, in a response without an envelope, that the request had no effect. 408, 429 and 5xx
   * apply even with an envelope; 409 is not allowed. Any other status leaves the outcome of a write unknown, because
   * a gateway may send it after the service has executed the request. So does JSON without a valid envelope, which may
   * be a damaged success. Add 401 if the service rejects tokens with an empty body, a page of HTML or plain text.
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
   * Maximum number of pages (50 rows each) that a reconciliation reads from a list. If a list is longer, a person has to decide.
   */
  reconciliationMaxPages: Schema.Int.check(Schema.isGreaterThan(0)),
  /**
   * Maximum difference between the clocks of the service's own servers. How far they differ from ours does not matter:
   * it is seen.
   */
  clockSkewSeconds: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  /**
   * Which unique_request_id the list of payouts shows: the key that was sent (same), never our key (none), or
   * unknown.
   */
  payoutKeyEcho: Schema.Literals(["same", "none", "unknown"]),
  /** Whether createPayout sends unique_request_id in its body. */
  payoutKeyInBody: Schema.Boolean,
  /**
   * Fields that retrievePayout returns exactly as they were sent or created. A response with another payout_id is ignored. If the
   * amount, currency or beneficiary_id differs, the run fails with PayoutDiffers. An amount may have grouping
   * separators, or differ by the displayed fee.
   */
  payoutFieldsAsSent: Schema.Array(
    Schema.Literals(["payout_id", "amount", "currency", "beneficiary_id"]),
  ),
  /** Statuses of a payout that is completed. */
  payoutCompletedStatuses: Texts,
  /** Statuses of a payout that ended without being paid. */
  payoutFailedStatuses: Texts,
  /** Statuses of a payout whose money came back. Its run fails as well; reports show it apart from those that failed. */
  payoutReturnedStatuses: Texts,
  /**
   * Statuses of a payout that is completed if it also has a complete_time. The same applies if its status is missing. A
   * payout of any other status stays open, and with a complete_time a person is asked once what the word means. If the
   * list is empty, complete_time completes no payout.
   */
  completeTimeStatuses: Texts,
  /** Statuses of a cardholder whose identity check passed. */
  cardholderVerifiedStatuses: Texts,
  /** Statuses of a cardholder whose identity check failed. */
  cardholderRefusedStatuses: Texts,
  /** Statuses of a cardholder whose identity check is incomplete. */
  cardholderIncompleteStatuses: Texts,
  /** Words in a refusal that mean that the requested state already exists. They count as success. */
  alreadySoRefusals: Schema.Record(
    Schema.Literals(["createBalance", "removeCardholder", "cancelCard", "freezeCard"]),
    Texts,
  ),
  /** Maximum decimal places of an amount that is sent: those of the currency, or a number. */
  amountFractionDigits: Schema.Union([
    Schema.Literal("iso4217"),
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 18 })),
  ]),
};

/**
 * Every point that the service's documentation leaves open, one setting each. Override any of them by
 * `PAYMENTS_ASSUMPTIONS` (a JSON object of the settings to change) or by the client's option.
 * Statuses and words are compared without regard to case.
 */
export interface Assumptions extends Schema.Struct.Type<typeof assumptionFields> {}

/** Schema of {@link Assumptions}. */
export const AssumptionsSchema = Schema.Struct(assumptionFields);
