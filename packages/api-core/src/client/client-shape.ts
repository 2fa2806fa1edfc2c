import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import type * as Stream from "effect/Stream";
import type { ListOptions, RequestOptions, WithResponse } from "./call-options.ts";
import type { ClientOptions } from "./config.ts";
import type { PaymentsError } from "./errors.ts";
import type { Endpoints } from "../contract/payments-api.ts";
import type { Input, Item, ListName, OperationName, Output, ReadName } from "./operations.ts";

/** The parameters of an operation; its input is the fields of path, query and body in one object. */
export type CallParameters<Name extends OperationName, Options> =
  {} extends Input<Name>
    ? // Every object has the fields of an input without fields.
      [input?: keyof Input<Name> extends never ? NoFields : Input<Name>, options?: Options]
    : [input: Input<Name>, options?: Options];

/** The input of an operation without fields. */
type NoFields = Readonly<Record<string, never>>;

/** One method per operation. */
export type Operations = {
  readonly [Name in keyof Endpoints]: (
    ...input: CallParameters<Name, RequestOptions>
  ) => Effect.Effect<Output<Name>, PaymentsError>;
};

/** The same operations, which answer data, status and headers. */
export type OperationsWithResponse = {
  readonly [Name in keyof Endpoints]: (
    ...input: CallParameters<Name, RequestOptions>
  ) => Effect.Effect<WithResponse<Output<Name>>, PaymentsError>;
};

/** A stream per list, over all its pages; `page_num` and `page_size` are the stream's own matter. */
export type Streams = {
  readonly [Name in keyof Pick<Endpoints, ListName>]: (
    filters?: Omit<Input<Name>, "page_num" | "page_size">,
    options?: ListOptions,
  ) => Stream.Stream<Item<Name>, PaymentsError>;
};

/** All operations, the lists as streams, and the settings in use. */
export interface PaymentsClientShape extends Operations {
  /** The same operations; each answers its data together with status and headers of the response. */
  readonly withResponse: OperationsWithResponse;
  /** Each list over all its pages, an item at a time; a page is asked for when it is needed. */
  readonly streams: Streams;
  /**
   * Requests per second at which the client sends at most, now: `requestsPerSecond`, or less once the service has answered
   * HTTP 429. Undefined if no limit is known.
   */
  readonly rate: () => number | undefined;
  /** The settings in use, the defaults among them. */
  readonly options: ClientOptions;
}

/**
 * A check that runs before every dispatch of an operation that is not `safe`, retries included:
 * after the input check, the sign-in and the wait for the account's turn and a connection. Nothing is awaited between its success and the first byte. If the process was suspended
 * for more than a second in between, nothing is sent. By default it does nothing.
 *
 * Its failure ends the call without this send and without another one. If the outcome of an earlier send of the
 * same call is unknown, the call fails with `OutcomeUnknown`; otherwise with that failure.
 *
 * @example
 * const guarded = Effect.provideService(client.createPayout(payout), BeforeSend, (operation) =>
 *   isPaused() ? Effect.fail(paused(operation)) : Effect.void,
 * );
 */
export const BeforeSend = Context.Reference<
  (operation: OperationName) => Effect.Effect<void, PaymentsError>
>("@durable-payments/client/BeforeSend", { defaultValue: () => () => Effect.void });

/** Every operation, and what it is: a read, a list that answers page by page, or a write. The contract says the same. */
const kinds: {
  readonly [Name in OperationName]: Name extends ListName
    ? "list"
    : Name extends ReadName
      ? "read"
      : "write";
} = {
  ping: "read",
  createBeneficiary: "write",
  updateBeneficiary: "write",
  retrieveBeneficiary: "read",
  createPayout: "write",
  listPayouts: "list",
  retrievePayout: "read",
  listPayers: "read",
  createBalance: "write",
  retrieveBalance: "read",
  retrieveBalanceBankDetails: "read",
  listTransactions: "list",
  createCardholder: "write",
  listCardholders: "list",
  removeCardholder: "write",
  createCard: "write",
  withdrawFromCard: "write",
  updateCard: "write",
  cancelCard: "write",
  freezeCard: "write",
};

/**
 * The names of all operations but signIn, which the client calls itself. They are known without
 * the contract, which is loaded with the first client.
 */
export const operationNames: ReadonlyArray<OperationName> =
  // The object's own keys.
  Object.keys(kinds) as ReadonlyArray<OperationName>;

/** The names of the operations that answer page by page. */
export const listNames: ReadonlyArray<ListName> = operationNames.filter(
  (name): name is ListName => kinds[name] === "list",
);

/** Returns whether an operation changes something at the service. */
export const isWrite = (name: OperationName): boolean => kinds[name] === "write";
