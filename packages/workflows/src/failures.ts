import { type FailureFacts, failureTypes } from "@durable-payments/protocol/calls";
import { ApplicationFailure } from "@temporalio/workflow";

type FailureType = (typeof failureTypes)[keyof typeof failureTypes];

const types: ReadonlySet<unknown> = new Set(Object.values(failureTypes));

/**
 * A step has failed permanently. `instanceof` compares the type of the failure, so it works across copies of this package
 * and for the cause of a child workflow's failure.
 */
export class PaymentFailure extends ApplicationFailure {
  /** Type of the failures of a class; undefined for this base class. */
  static readonly failureType: FailureType | undefined = undefined;

  /**
   * @param type one of `failureTypes`.
   * @param details the first describes the failure, for tools.
   */
  constructor(message: string, type: FailureType, details?: ReadonlyArray<unknown> | null) {
    super(message, type, true, details ? [...details] : null);
  }

  static override [Symbol.hasInstance](error: unknown): boolean {
    if (!(error instanceof ApplicationFailure)) return false;
    return this.failureType === undefined ? types.has(error.type) : error.type === this.failureType;
  }
}

const failureOf = (type: FailureType) =>
  class extends PaymentFailure {
    static override readonly failureType = type;

    constructor(message: string, details?: ReadonlyArray<unknown> | null) {
      super(message, type, details);
    }
  };

/** A request has missing, unknown or wrong fields: nothing was sent. */
export class InvalidRequest extends failureOf(failureTypes.invalidRequest) {}

/** The service refused the request, which had no effect. `message` has the reason. */
export class Refused extends failureOf(failureTypes.refused) {}

/** A person has stopped the workflow id: nothing more is sent under it. Earlier requests may have succeeded. */
export class Ended extends failureOf(failureTypes.ended) {}

/** A person has rejected the payment: it was not sent. */
export class Rejected extends failureOf(failureTypes.rejected) {}

/** Another request of the step, or of its key, has succeeded: nothing was sent by this one. */
export class AlreadyCarriedOut extends failureOf(failureTypes.alreadyCarriedOut) {}

/** The service made two results for one step. `message` and the log (`show ID --log`) have both ids: ask it to reverse one. */
export class MadeTwice extends failureOf(failureTypes.madeTwice) {}

/** The amount is above a limit of the account or of the worker: it was not sent. */
export class OverLimit extends failureOf(failureTypes.overLimit) {}

/** The payout ended without being paid. */
export class PayoutFailed extends failureOf(failureTypes.payoutFailed) {}

/** The payout was open at the end of the wait, and may still complete: do not pay again. */
export class PayoutStillOpen extends failureOf(failureTypes.payoutStillOpen) {}

/** The service shows a payout whose amount, currency or payee differs from the request. */
export class PayoutDiffers extends failureOf(failureTypes.payoutDiffers) {}

/** The identity of the cardholder was not verified. */
export class NotVerified extends failureOf(failureTypes.notVerified) {}

/** The balance did not hold the amount at the end of the wait. */
export class NotFunded extends failureOf(failureTypes.notFunded) {}

/** The result of the step cannot be removed automatically. */
export class CannotBeUndone extends failureOf(failureTypes.cannotBeUndone) {}

/** Returns the details of a step's failure, for tools; undefined for any other error. */
export const factsOf = (error: unknown): FailureFacts | undefined => {
  const facts: unknown = error instanceof PaymentFailure ? error.details?.[0] : undefined;
  // The format of every activity and step that fails with one of these types.
  return typeof facts === "object" && facts !== null ? (facts as FailureFacts) : undefined;
};
