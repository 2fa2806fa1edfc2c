import type { Endpoints, Fault } from "@durable-payments/client/effect";
import type {
  Call,
  JsonObject,
  Ledger,
  Limits,
  SendOutcome,
  Verdict,
  WritePolicy,
  WriteRequest,
  WriteRow,
} from "@durable-payments/ledger";
import type { WriteCall, WriteOptions } from "@durable-payments/protocol/calls";
import type { ReadName } from "../reads.ts";
import type { makeAgreement } from "./believed.ts";
import type { Dispatch } from "./dispatch.ts";
import type { Attempt } from "./guard.ts";

/** The id that a person gave; with `NOT_CONFIRMED` in the result if nothing could confirm it. */
export type ReadMade =
  | { readonly is: "fits"; readonly result: JsonObject }
  | { readonly is: "fault"; readonly fault: string };

/** An operation that writes, as the engine knows it: of the contract, or of a user's own. */
export interface WriteOperation {
  readonly name: string;
  /** Field of a result with the id: all that is left of a pruned write. */
  readonly idField: string;
  readonly policy: (options: WriteOptions) => WritePolicy;
  /**
   * Checks a request before anything is sent.
   *
   * @param isPlanned whether it belongs to a later step: ids from earlier steps may be missing.
   */
  readonly faults: (
    request: JsonObject,
    isPlanned: boolean,
  ) => ReadonlyArray<Fault> | Promise<ReadonlyArray<Fault>>;
  readonly describe: (request: JsonObject) => WriteRequest;
  readonly send: (dispatch: Dispatch) => Promise<SendOutcome>;
  /** Looks for the result of a row. Rejects with a PaymentsError if the service cannot be read. */
  readonly search:
    | ((row: WriteRow, now: number, signal: AbortSignal) => Promise<Verdict>)
    | undefined;
  /**
   * Reads the object of an id and compares it with the request. Rejects with a PaymentsError if it cannot be read.
   *
   * @param request undefined if only the row is known.
   */
  readonly read: (
    row: WriteRow,
    id: string,
    request: JsonObject | undefined,
    signal: AbortSignal,
  ) => Promise<ReadMade>;
  /** Marks the account that a request pays, or the person who gets a card, and describes it; undefined if there is neither. */
  readonly payee:
    | ((request: JsonObject) => Promise<{ readonly mark: string; readonly shown: string }>)
    | undefined;
  /** The write that removes the result; undefined if nothing can. */
  readonly undo:
    | ((id: string) => { readonly operation: WriteOperation; readonly request: JsonObject })
    | undefined;
}

/** The operations of the contract that write. */
export type WriteName = Exclude<keyof Endpoints, ReadName>;

/** Dependencies of the engine. */
export interface EngineOptions {
  readonly ledger: Ledger;
  /** Hash of the account. */
  readonly account: string;
  /** The operations of the worker by their names. */
  readonly operations: ReadonlyMap<string, WriteOperation>;
  /** The worker, as the log of the ledger names it. */
  readonly who: string;
  /** The worker's own limits: they only tighten those of the account. */
  readonly limits?: Limits | undefined;
  /** As {@link makeAgreement} makes it. */
  readonly disagreement: ReturnType<typeof makeAgreement>;
}

/** A write to perform: the activity's input, under the name of its operation. */
export interface WriteTask extends WriteCall {
  readonly operation: string;
}

/** One write in one attempt. */
export interface Given {
  readonly options: EngineOptions;
  readonly attempt: Attempt;
  readonly operation: WriteOperation;
  readonly call: Call;
  /** The activity's input; nothing if a row is reconciled without it. */
  readonly task: Partial<WriteTask>;
}

/** Assumed lifetime of a key at the service. Its document does not say. */
export const KEY_LIFETIME_MS = 24 * 60 * 60_000;

/** The currency of all cards and their transfers. */
const CARD_CURRENCY = "USD";

/** Ids that earlier steps produce. */
export const MADE_BEFORE = ["beneficiary_id", "card_holder_id", "balance_id", "card_id"];

/** Facts about an operation that its contract does not have. */
export interface WriteFacts {
  /** The field, in the response or the request, with the id of the created or changed object. */
  readonly idField: string;
  readonly isKeyed?: true;
  /** The field of the amount, if the request has one. */
  readonly amountField?: string;
  readonly currency?: string;
  readonly payeeField?: string;
  /** The part of the request that a row of a list is compared with; no account or card number. */
  readonly facts?: ReadonlyArray<string>;
  /** The kept part of the response; no account or card number. */
  readonly kept: ReadonlyArray<string>;
  readonly undoneBy?: WriteName;
}

/** All operations of the contract that write. */
export const WRITES: Readonly<Record<WriteName, WriteFacts>> = {
  createPayout: {
    idField: "payout_id",
    isKeyed: true,
    amountField: "amount",
    payeeField: "beneficiary_id",
    facts: ["amount", "currency", "beneficiary_id", "payout_reference"],
    kept: [
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
    ],
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
    kept: ["card_id", "card_status", "unique_request_id"],
    undoneBy: "cancelCard",
  },
  withdrawFromCard: {
    // A card may have many withdrawals: the key names the withdrawal.
    idField: "unique_request_id",
    isKeyed: true,
    amountField: "amount",
    currency: CARD_CURRENCY,
    payeeField: "card_id",
    kept: ["card_id", "amount", "unique_request_id"],
  },
  updateBeneficiary: { idField: "beneficiary_id", kept: ["beneficiary_id"] },
  // Its response has no id: there is one balance for each currency.
  createBalance: { idField: "currency", kept: ["currency"] },
  removeCardholder: { idField: "card_holder_id", kept: ["card_holder_id"] },
  updateCard: { idField: "card_id", kept: ["card_id", "card_status"] },
  cancelCard: { idField: "card_id", kept: ["card_id", "card_status"] },
  freezeCard: { idField: "card_id", kept: ["card_id", "card_status"] },
};

/** The operations of the contract that write. */
export const writeNames = Object.keys(WRITES) as ReadonlyArray<WriteName>;

const CHANGES: ReadonlySet<string> = new Set<WriteName>([
  "updateBeneficiary",
  "removeCardholder",
  "updateCard",
  "cancelCard",
  "freezeCard",
]);

/** Whether an operation changes the object that its request names. It makes nothing and pays nothing. */
export const isChange = (name: string): boolean => CHANGES.has(name);

/** Whether a list of the service shows the result of an operation. */
export const isListed = (name: WriteName): boolean =>
  name === "createPayout" || name === "createCardholder";
