import type { Endpoints, Fault } from "@durable-payments/api-core";
import type {
  JsonObject,
  Ledger,
  SendOutcome,
  Verdict,
  WritePolicy,
  WriteRequest,
  WriteRow,
} from "@durable-payments/ledger";
import type { WriteCall, WriteOptions } from "@durable-payments/protocol/calls";
import type { ReadName } from "../reads.ts";
import type { Sending } from "./guard.ts";

/** A person's id, as the service has it; with `NOT_CONFIRMED` in the result, where only the person says so. */
export type ReadMade =
  | { readonly is: "fits"; readonly result: JsonObject }
  | { readonly is: "fault"; readonly fault: string };

/** An operation that writes, as the engine knows it: of the contract, or of a user's own. */
export interface WriteOperation {
  readonly name: string;
  /** Field of a result with the id of what was made: all that is left of a pruned write. */
  readonly idField: string;
  readonly policy: (options: WriteOptions) => WritePolicy;
  /**
   * Checks a request before anything is sent.
   *
   * @param isPlanned whether it is that of a later step: ids of what is made before may be missing.
   */
  readonly faults: (
    request: JsonObject,
    isPlanned: boolean,
  ) => ReadonlyArray<Fault> | Promise<ReadonlyArray<Fault>>;
  readonly describe: (request: JsonObject) => WriteRequest;
  readonly send: (sending: Sending) => Promise<SendOutcome>;
  /** Looks for what a row may have made. Rejects with a PaymentsError where the service cannot be read. */
  readonly search:
    | ((row: WriteRow, now: number, signal: AbortSignal) => Promise<Verdict>)
    | undefined;
  /**
   * Reads what an id names, and compares it with what was sent. Rejects with a PaymentsError where it cannot be read.
   *
   * @param request undefined where only the row is at hand.
   */
  readonly read: (
    row: WriteRow,
    id: string,
    request: JsonObject | undefined,
    signal: AbortSignal,
  ) => Promise<ReadMade>;
  /** Marks the account that a request pays, and describes it; undefined where it pays no beneficiary. */
  readonly payee:
    | ((request: JsonObject) => Promise<{ readonly mark: string; readonly shown: string }>)
    | undefined;
  /** The write that removes what was made; undefined where nothing can. */
  readonly undo:
    | ((id: string) => { readonly operation: WriteOperation; readonly request: JsonObject })
    | undefined;
}

/** The operations of a worker by their names. */
export type WriteOperations = ReadonlyMap<string, WriteOperation>;

/** The operations of the contract that write. */
export type WriteName = Exclude<keyof Endpoints, ReadName>;

/** What the engine works with. */
export interface EngineOptions {
  readonly ledger: Ledger;
  /** Hash of the account. */
  readonly account: string;
  readonly operations: WriteOperations;
  /** The worker, as the log of the ledger names it. */
  readonly who: string;
}

/** A write to be carried out: what the activity got, under the name of its operation. */
export interface WriteTask extends WriteCall {
  readonly operation: string;
}

/** How long the service is taken to remember a key. Its document does not say. */
export const KEY_LIFETIME_MS = 24 * 60 * 60_000;

/** Cards, and what is moved to and from them, are in this currency only. */
const CARD_CURRENCY = "USD";

/** Ids of what an earlier step makes. */
export const MADE_BEFORE = ["beneficiary_id", "card_holder_id", "balance_id", "card_id"];

/** What the engine has to know of an operation beside its contract. */
export interface WriteFacts {
  /** The field with the id of what it makes, or changes, in the answer or the request. */
  readonly idField: string;
  readonly isKeyed?: true;
  /** Where the request has an amount. */
  readonly amountField?: string;
  readonly currency?: string;
  readonly payeeField?: string;
  /** What a list, or a person, is shown of the request; no account or card number. */
  readonly facts?: ReadonlyArray<string>;
  /** What is kept of the answer; no account or card number. */
  readonly kept: ReadonlyArray<string>;
  readonly undoneBy?: WriteName;
}

/** What is kept of a payout. */
export const PAYOUT_KEPT = [
  "payout_id",
  "payout_status",
  "amount",
  "currency",
  "short_reference",
  "payout_reference",
  "beneficiary_id",
  "payment_date",
  "fee_amount",
  "create_time",
  "unique_request_id",
];

/** All operations of the contract that write. */
export const WRITES: Readonly<Record<WriteName, WriteFacts>> = {
  createPayout: {
    idField: "payout_id",
    isKeyed: true,
    amountField: "amount",
    payeeField: "beneficiary_id",
    facts: [
      "amount",
      "currency",
      "beneficiary_id",
      "payout_reference",
      "payout_reason",
      "payment_date",
    ],
    kept: PAYOUT_KEPT,
  },
  createCardholder: {
    idField: "card_holder_id",
    facts: ["first_name", "last_name"],
    kept: ["card_holder_id", "card_holder_status"],
    undoneBy: "removeCardholder",
  },
  createBeneficiary: {
    idField: "beneficiary_id",
    kept: ["beneficiary_id", "beneficiary_status"],
  },
  createCard: {
    idField: "card_id",
    isKeyed: true,
    amountField: "card_limit",
    currency: CARD_CURRENCY,
    payeeField: "card_holder_id",
    facts: ["card_holder_id", "product_code", "card_limit"],
    kept: ["card_id", "card_status", "unique_request_id"],
    undoneBy: "cancelCard",
  },
  withdrawFromCard: {
    // A card may be withdrawn from again and again: the key names the withdrawal.
    idField: "unique_request_id",
    isKeyed: true,
    amountField: "amount",
    currency: CARD_CURRENCY,
    payeeField: "card_id",
    facts: ["card_id", "amount"],
    kept: ["card_id", "amount", "unique_request_id"],
  },
  updateBeneficiary: { idField: "beneficiary_id", kept: ["beneficiary_id"] },
  // Its answer names nothing: there is one balance of a currency.
  createBalance: { idField: "currency", facts: ["currency"], kept: ["currency"] },
  removeCardholder: { idField: "card_holder_id", kept: ["card_holder_id"] },
  updateCard: { idField: "card_id", kept: ["card_id", "card_status"] },
  cancelCard: { idField: "card_id", kept: ["card_id", "card_status"] },
  freezeCard: { idField: "card_id", kept: ["card_id", "card_status"] },
};

/** The operations of the contract that write. */
export const writeNames = Object.keys(WRITES) as ReadonlyArray<WriteName>;

/** Whether a list of the service shows what an operation makes. */
export const isListed = (name: WriteName): boolean =>
  name === "createPayout" || name === "createCardholder";
