import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as ManagedRuntime from "effect/ManagedRuntime";
import type * as Stream from "effect/Stream";
import { cleanTexts, isAbortSignal, isRecord, iterable } from "../values.ts";
import type { Endpoints } from "../contract/payments-api.ts";
import type { CallOptions, StreamOptions, WithResponse } from "./call-options.ts";
import { Calls } from "./calls.ts";
import {
  BeforeSend,
  type CallParameters,
  isWrite,
  listNames,
  operationNames,
} from "./client-shape.ts";
import type { ClientOptions, ClientSettings } from "./config.ts";
import { OutcomeUnknown, type PaymentsError, Unavailable } from "./errors.ts";
import { invalidRequest } from "./invalid-request.ts";
import type { Input, Item, ListName, OperationName, Output } from "./operations.ts";
import { layerOfCalls } from "./payments-client.ts";
import { unknownOutcome } from "./unknown-outcome.ts";

/** The operations as promises, which reject with a `PaymentsError`; the lists as async iterables. */
export type PromiseClient = AsyncDisposable & {
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
      options?: StreamOptions,
    ) => AsyncIterable<Item<Name>>;
  };
  /**
   * Requests per second at which the client sends at most, now: `requestsPerSecond`, or less once the service has answered
   * HTTP 429. Undefined if no limit is known, or nothing was called yet.
   */
  readonly rate: () => number | undefined;
  /**
   * Closes the connections, as `await using` does. Calls under way end: a write that may have been sent rejects with
   * `OutcomeUnknown`.
   */
  readonly close: () => Promise<void>;
};

/** The settings of a client: `baseUrl`, `clientId`, `apiKey` or `apiKeyFile`, and any others. */
export type PromiseClientSettings = ClientSettings &
  (Required<Pick<ClientSettings, "apiKey">> | Required<Pick<ClientSettings, "apiKeyFile">>);

type AnyStream = (
  filters: object | undefined,
  options?: object,
) => Stream.Stream<unknown, PaymentsError>;

/** Returns the signal of the options. A wrong one is refused later, with the other faults of the options. */
const signalIn = (options: unknown): AbortSignal | undefined => {
  const signal = isRecord(options) ? options["signal"] : undefined;
  return isAbortSignal(signal) ? signal : undefined;
};

/** Returns the error, whose stack now shows who awaits the call: the fiber in which it was made has no code of the caller. */
const withCaller = (error: unknown): unknown => {
  if (error instanceof Error && "_tag" in error) Error.captureStackTrace(error);
  return error;
};

const valueOf = <A>(exit: Exit.Exit<A, unknown>): A => {
  if (Exit.isSuccess(exit)) return exit.value;
  throw withCaller(Cause.squash(exit.cause));
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
  const what = aborted ? `${name} was aborted when it may have been sent.` : closed;
  const message = unknownOutcome(name, what);
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
export const createClient = (settings: PromiseClientSettings | ClientOptions): PromiseClient => {
  const runtime = ManagedRuntime.make(layerOfCalls(settings));
  let isClosed = false;
  let made: Calls["Service"] | undefined;

  /** The calls are looked up by the first one only. */
  const withCalls = <A, E>(
    use: (calls: Calls["Service"]) => Effect.Effect<A, E>,
  ): Effect.Effect<A, E, Calls> =>
    made === undefined
      ? Calls.use((calls) => {
          made = calls;
          return use(calls);
        })
      : use(made);

  const call =
    (name: OperationName, hasResponse: boolean) =>
    async (given: unknown, options?: CallOptions) => {
      if (isClosed) throw closedBefore(name);
      // A copy: the program may use the object again before the request is written.
      const input = cleanTexts(given);
      const signal = signalIn(options);
      // A client with a token would send before its fiber is interrupted.
      signal?.throwIfAborted();
      const called = withCalls((calls) =>
        calls.call(name, input, options, { caller: "promise", hasResponse }),
      );
      let mayBeSent = false;
      const noted = () =>
        Effect.sync(() => {
          mayBeSent = true;
        });
      const exit = await runtime.runPromiseExit(
        isWrite(name) ? Effect.provideService(called, BeforeSend, noted) : called,
        signal && { signal },
      );
      if (Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) {
        throw endedEarly(name, mayBeSent, signal);
      }
      return valueOf(exit);
    };

  const callsWith = (hasResponse: boolean) =>
    Object.fromEntries(operationNames.map((name) => [name, call(name, hasResponse)]));

  /** The streams over the calls of this client, loaded with the first list. */
  const streamsOf = (name: ListName, options: unknown) =>
    withCalls((calls) =>
      Effect.promise(async () => {
        const { makeListStreams, optionFaults, Stream } = await import("./list-streams.ts");
        const faults = optionFaults(options, "stream");
        if (faults.length > 0) throw invalidRequest(name, faults);
        const items: AnyStream = makeListStreams(calls)[name];
        return { items, Stream };
      }),
    );

  /** Reads a list once, from its first page. */
  async function* itemsOf(name: ListName, filters: object | undefined, options: StreamOptions) {
    if (isClosed) throw closedBefore(name);
    const signal = signalIn(options);
    signal?.throwIfAborted();
    const { items, Stream } = valueOf(await runtime.runPromiseExit(streamsOf(name, options)));
    const { signal: _, ...listOptions } = options;
    const listed = items(filters, listOptions);
    const stoppable =
      signal === undefined ? listed : Stream.interruptWhen(listed, untilAbort(signal));
    try {
      for await (const item of Stream.toAsyncIterable(stoppable)) {
        // Items of a page that was read before the abort.
        signal?.throwIfAborted();
        yield item;
      }
    } catch (error) {
      throw withCaller(error);
    }
    signal?.throwIfAborted();
  }

  const list =
    (name: ListName) =>
    (given?: object, options: StreamOptions = {}) => {
      const filters = cleanTexts(given);
      return iterable(() => itemsOf(name, filters, options));
    };

  const close = () => {
    isClosed = true;
    return runtime.dispose();
  };

  return {
    ...callsWith(false),
    withResponse: callsWith(true),
    streams: Object.fromEntries(listNames.map((name) => [name, list(name)])),
    rate: () => made?.rate(),
    close,
    [Symbol.asyncDispose]: close,
    // One entry for each operation and list of the contract, from which the type is made.
  } as unknown as PromiseClient;
};
