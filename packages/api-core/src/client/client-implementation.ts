import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Random from "effect/Random";
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import type * as Scope from "effect/Scope";
import * as Tracer from "effect/Tracer";
import * as RateLimiter from "effect/persistence/RateLimiter";
import { CLIENT_ID_HEADER, TOKEN_HEADER } from "../contract/signed-in.ts";
import { countAttempt } from "./attempt-metric.ts";
import {
  optionFaults,
  REQUEST_OPTIONS,
  type RequestOptions,
  type WithResponse,
} from "./call-options.ts";
import { checkRequest, type Prepared, prepareRequest } from "./check-request.ts";
import { BeforeSend, IsResend } from "./client-references.ts";
import type { Operations, OperationsWithResponse, PaymentsClientShape } from "./client-shape.ts";
import type { ClientOptions } from "./config.ts";
import { currentApiKey } from "./current-credentials.ts";
import { invalidRequest, NotAuthenticated, OutcomeUnknown, type PaymentsError } from "./errors.ts";
import { maskedHeaders, secretHeaderValues } from "./headers.ts";
import { withHooks } from "./hooks.ts";
import { makeListStreams } from "./list-streams.ts";
import { operationNames } from "./operation-names.ts";
import { type Operation, operation, type OperationName } from "./operations.ts";
import { type Failed, failed } from "./outcomes.ts";
import {
  failedAs,
  type ParsedResponse,
  parseNoResponse,
  parseResponse,
  type ResponseContext,
} from "./parse-response.ts";
import { makeRateLimiter } from "./rate-limiter.ts";
import { errorOfCall, mayRetry, retryDelayMs } from "./retry-policy.ts";
import { makeSay } from "./say.ts";
import { makeSend } from "./send.ts";
import { makeSession, notSent } from "./session.ts";
import { isTraced, SPAN, withSpans } from "./spans.ts";
import type { WireRequest, WireResponse } from "./wire.ts";

/** One call, through all its sends. */
interface Call {
  readonly called: Operation;
  readonly prepared: Prepared;
  /** Values that must not be repeated in a message. */
  readonly hidden: ReadonlyArray<string>;
  readonly options: RequestOptions;
  /** Most sends of its request, that after a new sign-in included. */
  readonly maxAttempts: number;
  /** When its time is over, as `performance.now()` tells it. */
  readonly endsAt: number;
  /** Sends begun so far. */
  sends: number;
  /** How long the sends of this attempt have taken. */
  sentMs: number;
  /** Whether its request may have been sent before. */
  isResend: boolean;
  /** Whether one of its sends may have been carried out. */
  isInDoubt: boolean;
  /** The last response, and what must not be shown of it. */
  answered: { readonly response: WireResponse; readonly hidden: ReadonlyArray<string> } | undefined;
}

const makeCall = (
  called: Operation,
  prepared: Prepared,
  options: RequestOptions & { readonly maxAttempts: number },
  isResend: boolean,
): Call => ({
  called,
  prepared,
  hidden: [...prepared.hidden, ...secretHeaderValues(options.headers ?? {})],
  options,
  maxAttempts: options.maxAttempts,
  endsAt: options.timeoutMs === undefined ? Infinity : performance.now() + options.timeoutMs,
  sends: 0,
  sentMs: 0,
  isResend,
  isInDoubt: false,
  answered: undefined,
});

const leftMs = ({ endsAt }: Call): number => Math.max(0, endsAt - performance.now());

const timeIsOver = ({ called, options }: Call): Failed =>
  failedAs("notSentUntilFixed", called, {
    was: `not sent: the ${options.timeoutMs} ms of the call were over`,
  });

/** A wait before a send, no longer than the call may last. */
const within = <A>(call: Call, wait: Effect.Effect<A, Failed>): Effect.Effect<A, Failed> =>
  call.endsAt === Infinity
    ? wait
    : Effect.timeoutOrElse(wait, {
        duration: leftMs(call),
        orElse: () => Effect.fail(timeIsOver(call)),
      });

/** The answer of a call with status and headers of its last response. */
const answerWithResponse = ({ answered }: Call, data: unknown): WithResponse<unknown> => ({
  data,
  // A call that succeeds has been answered.
  status: answered?.response.status ?? 0,
  headers: maskedHeaders(answered?.response.headers ?? {}, answered?.hidden ?? []),
});

/** Make a client with these settings; its connections are closed with the scope. */
export const makeOperations = (
  options: ClientOptions,
): Effect.Effect<PaymentsClientShape, never, Scope.Scope> =>
  Effect.gen(function* () {
    const say = makeSay(options.logger);
    const send = withSpans(withHooks(yield* makeSend(options), options, say));
    const session = yield* makeSession(options, send, say);
    const limiter = yield* RateLimiter.RateLimiter;

    const withinRate = makeRateLimiter(limiter, options);
    const ping = operation("ping");
    const preparedPing = prepareRequest(
      ping,
      { params: {}, query: {}, payload: undefined },
      options,
    );

    const tokens = new Map<Operation, Effect.Effect<Redacted.Redacted, Failed>>();

    const tokenFor = (called: Operation): Effect.Effect<Redacted.Redacted, Failed> => {
      let token = tokens.get(called);
      if (token === undefined) {
        token = Effect.mapError(session.token, (error) =>
          failed(
            notSent(called, error),
            session.isLasting(error) ? "never" : "always",
            error._tag === "RateLimited" ? error.retryAfter : undefined,
          ),
        );
        tokens.set(called, token);
      }
      return token;
    };

    /** The caller's check before a send; reads are not asked for. */
    const mayBeSent = (called: Operation): Effect.Effect<void, Failed> | undefined =>
      called.idempotency === "safe"
        ? undefined
        : Effect.flatMap(BeforeSend, (beforeSend) =>
            // signIn alone has another name, and is safe.
            Effect.mapError(beforeSend(called.name as OperationName), (error) =>
              failed(error, "never"),
            ),
          );

    /** One send with a token, and what its response means. */
    const sendOnce = (
      call: Call,
      token: Redacted.Redacted,
    ): Effect.Effect<ParsedResponse<unknown>, Failed> => {
      const { called, hidden: ofCall, isResend } = call;
      const { request } = call.prepared;
      const left = Math.ceil(leftMs(call));
      if (left === 0) return Effect.fail(timeIsOver(call));
      call.sends += 1;
      const headers: Record<string, string> = {
        ...call.options.headers,
        [CLIENT_ID_HEADER]: options.clientId,
        [TOKEN_HEADER]: `Bearer ${Redacted.value(token)}`,
      };
      if (request.body !== undefined) headers["content-type"] = "application/json";
      const wire: WireRequest = {
        ...request,
        headers,
        attempt: call.sends,
        timeoutMs: Math.min(options.requestTimeoutMs, left),
      };
      const beganAt = performance.now();
      return send(wire, mayBeSent(called)).pipe(
        Effect.mapError((failure) => {
          call.sentMs += performance.now() - beganAt;
          if (failure._tag === "Failed") return failure;
          call.isResend ||= failure.sent;
          return parseNoResponse(called, failure);
        }),
        Effect.flatMap((response) => {
          call.sentMs += performance.now() - beganAt;
          call.isResend = true;
          const hidden = [...ofCall, Redacted.value(token), Redacted.value(currentApiKey(options))];
          call.answered = { response, hidden };
          const context: ResponseContext = {
            operation: called,
            assumptions: options.assumptions,
            hidden,
            isResend,
          };
          // Only a wait that the service asks for is counted from now.
          return response.retryAfter === undefined
            ? Effect.succeed(parseResponse(context, response, 0))
            : Effect.clockWith((clock) =>
                Effect.succeed(parseResponse(context, response, clock.currentTimeMillisUnsafe())),
              );
        }),
      );
    };

    /** Whether ping accepts a token; undefined where it does not say. */
    const isAccepted = Effect.fnUntraced(function* (call: Call, token: Redacted.Redacted) {
      const pinging: Call = { ...call, called: ping, prepared: preparedPing, isResend: false };
      const pinged = yield* Effect.result(
        Effect.flatMap(within(pinging, withinRate), () => sendOnce(pinging, token)),
      );
      if (Result.isFailure(pinged)) return undefined;
      const { _tag } = pinged.success;
      return _tag === "Success" ? true : _tag === "TokenRejected" ? false : undefined;
    });

    const exchange = Effect.fnUntraced(function* (call: Call): Effect.fn.Return<unknown, Failed> {
      const { called } = call;
      let isRejectionInDoubt = false;
      for (let renewed = false; ; renewed = true) {
        yield* within(call, withinRate);
        const token = yield* within(call, tokenFor(called));
        const reading = yield* sendOnce(call, token);
        if (reading._tag === "Success") return reading.value;
        if (reading._tag === "Failed") return yield* Effect.fail(reading);
        const { isInDoubt, otherwise, reason } = reading;
        call.isInDoubt ||= isInDoubt;
        isRejectionInDoubt ||= isInDoubt;
        if (otherwise !== undefined && called !== ping && (renewed || session.isInUse(token))) {
          // Its words alone speak of a token, and may speak of anything else.
          const isGood = yield* isAccepted(call, token);
          if (isGood === true || (renewed && isGood === undefined)) {
            return yield* Effect.fail(otherwise);
          }
        }
        yield* session.reject(token);
        if (isInDoubt && called.idempotency === "none") {
          const remedy =
            "A gateway may say so after the service has carried it out. The next request signs in again.";
          return yield* Effect.fail(
            failedAs("tokenRejectedByGateway", called, { was: reason, remedy }),
          );
        }
        if (renewed || call.sends >= call.maxAttempts) {
          const why = renewed
            ? `a fresh token was rejected too (${reason}).`
            : `its token was rejected (${reason}), and maxAttempts (PAYMENTS_MAX_ATTEMPTS) allows no further send. The next call signs in again.`;
          return yield* Effect.fail(
            failed(
              isRejectionInDoubt
                ? new OutcomeUnknown({
                    operation: called.name,
                    carriedOut: "unknown",
                    message: `${called.name} may have been carried out: ${why}`,
                  })
                : new NotAuthenticated({
                    operation: called.name,
                    carriedOut: "no",
                    message: `${called.name} was not carried out: ${why}`,
                  }),
              "never",
            ),
          );
        }
      }
    });

    const perform = Effect.fnUntraced(function* (
      called: Operation,
      input: unknown,
      requestOptions: RequestOptions,
      { hasResponse, isResend }: { readonly hasResponse: boolean; readonly isResend: boolean },
    ): Effect.fn.Return<unknown, PaymentsError> {
      const faults = optionFaults(requestOptions, REQUEST_OPTIONS);
      if (faults.length > 0) return yield* invalidRequest(called.name, faults);
      const checked = checkRequest(called, input, options.assumptions);
      if (Result.isFailure(checked)) return yield* checked.failure;
      const prepared = prepareRequest(called, checked.success, options);
      const { maxAttempts = options.maxAttempts } = requestOptions;
      const call = makeCall(called, prepared, { ...requestOptions, maxAttempts }, isResend);
      for (let attempt = 1; ; attempt++) {
        call.sentMs = 0;
        const result = yield* Effect.result(exchange(call));
        countAttempt(
          called.name,
          Result.isSuccess(result) ? "Success" : result.failure.error._tag,
          call.sentMs,
        );
        if (Result.isSuccess(result)) {
          return hasResponse ? answerWithResponse(call, result.success) : result.success;
        }
        const failure = result.failure;
        call.isInDoubt ||= failure.error.carriedOut === "unknown";
        // A new sign-in may have cost a second send within an attempt.
        const tries = Math.max(attempt, call.sends);
        if (!mayRetry(called, failure, tries, { ...options, maxAttempts })) {
          return yield* Effect.fail(errorOfCall(failure, call.isInDoubt));
        }
        const delayMs = retryDelayMs(failure, attempt, options, yield* Random.next);
        if (delayMs >= leftMs(call))
          return yield* Effect.fail(errorOfCall(failure, call.isInDoubt));
        yield* say.debug(
          `${called.name}: send ${attempt} failed (${failure.error.message}); again in ${Math.round(delayMs)} ms.`,
        );
        yield* Effect.sleep(delayMs);
      }
    });

    const operationsWith = (hasResponse: boolean) =>
      Object.fromEntries(
        operationNames.map((name) => {
          const called = operation(name);
          const run = (input?: unknown, requestOptions: RequestOptions = {}) =>
            Effect.withFiber<unknown, PaymentsError>((fiber) => {
              const isResend = fiber.getRef(IsResend);
              const calling = perform(called, input, requestOptions, { hasResponse, isResend });
              return isTraced(fiber.getRef(Tracer.Tracer))
                ? Effect.withSpan(calling, name, SPAN)
                : calling;
            });
          return [name, run];
        }),
      );

    // Each name is called with its own input and answers its own output; both come from the
    // contract that the types are taken from.
    const operations = operationsWith(false) as unknown as Operations;
    const withResponse = operationsWith(true) as unknown as OperationsWithResponse;

    return {
      ...operations,
      withResponse,
      streams: makeListStreams(operations, say),
      options,
    };
  }).pipe(Effect.provide(RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory))));
