import type { OperationName } from "@durable-payments/api-core";

/** A write that is never made twice on a guess. */
export interface SendKind {
  readonly operation: OperationName;
  /** Field of its answer, and of a person's `found`, that names what it made. */
  readonly id: string;
  /** Part of the run's input that it sends. */
  readonly input: string;
}

/** The writes of the steps, by the type of the activity that sends them. */
export const SENDS: Readonly<Record<string, SendKind>> = {
  createBeneficiary: {
    operation: "createBeneficiary",
    id: "beneficiary_id",
    input: "beneficiary",
  },
  createPayout: { operation: "createPayout", id: "payout_id", input: "payout" },
  createCardholder: {
    operation: "createCardholder",
    id: "card_holder_id",
    input: "cardholder",
  },
  createCard: { operation: "createCard", id: "card_id", input: "card" },
};

/** The look-ups, by activity type, and the write that they look for. */
export const LOOK_UPS: Readonly<Record<string, string>> = {
  findPayouts: "createPayout",
  findCardholders: "createCardholder",
};

/** What undoes a write, by activity type, and the field of its input that names what is undone. */
export const UNDOES: Readonly<Record<string, string>> = {
  cancelCard: "card_id",
  removeCardholder: "card_holder_id",
};
