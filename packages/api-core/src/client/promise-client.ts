import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as ManagedRuntime from "effect/ManagedRuntime";
import type * as Stream from "effect/Stream";
import type { Endpoints } from "../contract/payments-api.ts";
import {
  CALL_OPTIONS,
  type CallOptions,
  optionFaults,
  type RequestOptions,
  STREAM_OPTIONS,
  type WithResponse,
} from "./call-options.ts";
import type { ClientSettings } from "./config.ts";
import { invalidRequest, OutcomeUnknown, type PaymentsError, Unavailable } from "./errors.ts";
import {
  BeforeSend,
  type CallParameters,
  IsResend,
  listNames,
  operationNames,
  type PaymentsClientShape,
} from "./client-shape.ts";
import type { Input, Item, ListName, OperationName, Output } from "./operations.ts";
import { PaymentsClient } from "./payments-client.ts";

/** The operations as promises, which reject with a `PaymentsError`; the lists as async iterables. */
export type PromiseClient = {
  readonly [Name in keyof Endpoints]: (
    ...input: CallParameters<Name, CallOptions>
  ) => Promise<Output<Name>>;
} & {
  /** The same operations; each answers its data together with status and headers of the response. */
  readonly withResponse: {
    readonly [Name in keyof Endpoints]: (
      ...input: CallParameters<Name, CallOptions>
    ) => Promise<WithResponse<Output<Name>>>;
  };
  /** Each list over all its pages, an item at a time; a page is asked for when it is needed. */
  readonly streams: {
    readonly [Name in keyof Pick<Endpoints, ListName>]: (
      filters?: Omit<Input<Name>, "page_num" | "page_size">,
      options?: Omit<CallOptions, "isResend">,
    ) => AsyncIterable<Item<Name>>;
  };
  /** Closes the connections; calls under way end. */
  readonly close: () => Promise<void>;
};

/** An operation of any name: the contract's types differ, the run-time value does not. */
type AnyOperation = (
  input: unknown,
  options?: RequestOptions,
) => Effect.Effect<unknown, PaymentsError>;
type AnyStream = (
  filters: object | undefined,
  options?: RequestOptions,
) => Stream.Stream<unknown, PaymentsError>;

const valueOf = <A>(exit: Exit.Exit<A, unknown>): A => {
  if (Exit.isSuccess(exit)) return exit.value;
  throw Cause.squash(exit.cause);
};

const closedBefore = (name: OperationName) =>
  new Unavailable({
    operation: name,
    carriedOut: "no",
    message: `${name} was not sent: the client is closed.`,
  });

/**
 * Returns why a call ended early.
 *
 * @param mayBeSent whether a send of a write had begun
 */
const endedEarly = (
  name: OperationName,
  mayBeSent: boolean,
  { aborted = false, reason }: Partial<AbortSignal> = {},
): unknown => {
  if (!mayBeSent && aborted) return reason;
  const closed = `The client was closed while ${name} was in progress.`;
  if (!mayBeSent) return new Unavailable({ operation: name, carriedOut: "no", message: closed });
  const message = aborted ? `${name} was aborted when it may have been sent.` : closed;
  const error = new OutcomeUnknown({ operation: name, carriedOut: "unknown", message });
  if (aborted) error.cause = reason;
  return error;
};

/** Ends when there is an abort. */
const untilAbort = (signal: AbortSignal): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const onAbort = () => resume(Effect.void);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    return Effect.sync(() => signal.removeEventListener("abort", onAbort));
  });

/**
 * Makes a client for plain `async`/`await`, with the guarantees of {@link PaymentsClient}.
 *
 * @param settings `baseUrl`, `clientId` and `apiKey`, and any that differ from the defaults
 * @returns one method per operation, `withResponse` of each, `streams` of the lists, and `close`
 * @throws nothing: a missing or wrong setting rejects the first call with `InvalidSettings`
 * @example
 * const client = createClient({ baseUrl, clientId, apiKey });
 * const { available_balance } = await client.retrieveBalance({ currency: "USD" });
 * await client.close();
 */
export const createClient = (settings: ClientSettings): PromiseClient => {
  const runtime = ManagedRuntime.make(PaymentsClient.layer(settings));
  let isClosed = false;
  let made: PaymentsClientShape | undefined;

  /** The client is looked up by the first call only. */
  const withClient = (
    use: (client: PaymentsClientShape) => Effect.Effect<unknown, PaymentsError>,
  ): Effect.Effect<unknown, PaymentsError, PaymentsClient> =>
    made === undefined
      ? PaymentsClient.use((client) => {
          made = client;
          return use(client);
        })
      : use(made);

  const call =
    (name: OperationName, operationsOf: (client: PaymentsClientShape) => object) =>
    async (input: unknown, options: CallOptions = {}) => {
      if (isClosed) throw closedBefore(name);
      const faults = optionFaults(options, CALL_OPTIONS);
      if (faults.length > 0) throw invalidRequest(name, faults);
      const { isResend = false, signal, ...requestOptions } = options;
      const called = withClient((client) =>
        // One operation of the contract; its input is checked by the call itself.
        (operationsOf(client) as Record<OperationName, AnyOperation>)[name](input, requestOptions),
      );
      let mayBeSent = false;
      const noted = Effect.provideService(called, BeforeSend, () =>
        Effect.sync(() => {
          mayBeSent = true;
        }),
      );
      const exit = await runtime.runPromiseExit(
        isResend ? Effect.provideService(noted, IsResend, true) : noted,
        signal && { signal },
      );
      if (Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) {
        throw endedEarly(name, mayBeSent, signal);
      }
      return valueOf(exit);
    };

  const callsOf = (operationsOf: (client: PaymentsClientShape) => object) =>
    Object.fromEntries(operationNames.map((name) => [name, call(name, operationsOf)]));

  const list = (name: ListName) =>
    async function* (filters?: object, options: CallOptions = {}) {
      if (isClosed) throw closedBefore(name);
      const faults = optionFaults(options, STREAM_OPTIONS);
      if (faults.length > 0) throw invalidRequest(name, faults);
      const { signal, ...requestOptions } = options;
      signal?.throwIfAborted();
      const client = valueOf(await runtime.runPromiseExit(PaymentsClient));
      const Stream = await import("effect/Stream");
      const items = (client.streams[name] as AnyStream)(filters, requestOptions);
      const stoppable =
        signal === undefined ? items : Stream.interruptWhen(items, untilAbort(signal));
      for await (const item of Stream.toAsyncIterable(stoppable)) {
        // Items of a page that was read before the abort.
        signal?.throwIfAborted();
        yield item;
      }
      signal?.throwIfAborted();
    };

  return {
    ...callsOf((client) => client),
    withResponse: callsOf((client) => client.withResponse),
    streams: Object.fromEntries(listNames.map((name) => [name, list(name)])),
    close: () => {
      isClosed = true;
      return runtime.dispose();
    },
    // One entry for each operation and list of the contract, from which the type is made.
  } as unknown as PromiseClient;
};
