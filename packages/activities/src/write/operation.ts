import type { Fault, OperationName, PaymentsError } from "@durable-payments/api-core";
import type {
  JsonObject,
  Ledger,
  SendOutcome,
  Verdict,
  WriteName as RowName,
  WritePolicy,
  WriteRequest,
  WriteRow,
} from "@durable-payments/ledger";
import { rowStep } from "@durable-payments/protocol";
import type { WriteCall, WriteOptions } from "@durable-payments/protocol/calls";
import type { Guard } from "./guard.ts";

/** One send of a write. */
export interface Sending {
  readonly request: JsonObject;
  /** The key of this generation: 36 characters. */
  readonly key: string;
  /** Whether an earlier send with this key may have reached the service. */
  readonly isResend: boolean;
  /** How long ago the row of what was sent before was made, in milliseconds; undefined where nothing was sent. */
  readonly sentForMs: number | undefined;
  readonly guard: Guard;
  readonly options: WriteOptions;
  /** The number of the attempt: waits grow with it. */
  readonly attempt: number;
  /** Runs something once the ledger has the outcome. */
  readonly afterwards: (release: () => Promise<void>) => void;
}

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
export type WriteName = Extract<
  OperationName,
  | "createPayout"
  | "createCardholder"
  | "createBeneficiary"
  | "createCard"
  | "withdrawFromCard"
  | "updateBeneficiary"
  | "createBalance"
  | "removeCardholder"
  | "updateCard"
  | "cancelCard"
  | "freezeCard"
>;

/** Returns whether an error is one of the client's. */
export const isPaymentsError = (error: unknown): error is PaymentsError =>
  typeof error === "object" && error !== null && "_tag" in error && "carriedOut" in error;

/** Only time helps: the next attempt goes on. `version`: the row's, where nothing can have been sent; 0 without one. */
export class NotYet extends Error {
  override readonly name = "NotYet";
  readonly delayMs: number;
  readonly version: number | undefined;
  constructor(message: string, delayMs: number, version?: number) {
    super(message);
    this.delayMs = delayMs;
    this.version = version;
  }
}

/** The step fails for good: its type is one of `failureTypes`, or `Cancelled`. */
export class StepFailed extends Error {
  override readonly name = "StepFailed";
  readonly type: string;
  readonly details: JsonObject;
  constructor(type: string, message: string, details: JsonObject) {
    super(message);
    this.type = type;
    this.details = details;
  }
}

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

/** Returns the name of the row of a step: that of a child holds the child's workflow id. */
export const rowNameOf = (
  account: string,
  workflowId: string,
  { rootId, step }: Pick<WriteCall, "rootId" | "step">,
): RowName => ({ account, workflowId: rootId, step: rowStep(rootId, { workflowId, step }) });
