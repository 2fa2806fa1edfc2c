import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Random from "effect/Random";
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import type * as Scope from "effect/Scope";
import * as Tracer from "effect/Tracer";
import * as RateLimiter from "effect/persistence/RateLimiter";
import { CLIENT_ID_HEADER, TOKEN_HEADER } from "../contract/operation-facts.ts";
import { credentialsOf } from "../credentials.ts";
import { optionFaults, REQUEST_OPTIONS, type RequestOptions } from "./call-options.ts";
import { checkRequest, type Prepared, prepareRequest } from "./check-request.ts";
import {
  BeforeSend,
  IsResend,
  operationNames,
  type Operations,
  type OperationsWithResponse,
  type PaymentsClientShape,
} from "./client-shape.ts";
import type { ClientOptions } from "./config.ts";
import { invalidRequest, type PaymentsError } from "./errors.ts";
import { maskedHeaders, secretHeaderValues } from "./redact.ts";
import { withHooks } from "./hooks.ts";
import { makeListStreams } from "./list-streams.ts";
import { type Operation, operation, type OperationName } from "./operations.ts";
import { type Failed, failed } from "./outcomes.ts";
import { failedAs, type ParsedResponse, parseNoResponse, parseResponse } from "./parse-response.ts";
import { errorOfCall, makeRateLimiter, nextStep } from "./retry-policy.ts";
import { makeSay } from "./say.ts";
import { makeSession, notSent } from "./session.ts";
import { countAttempt, isTraced, SPAN, withSpans } from "./telemetry.ts";
import { makeSend } from "./transport.ts";
import type { WireResponse } from "./wire.ts";

/** One call, through all its sends. */
interface Call {
  readonly called: Operation;
  readonly prepared: Prepared;
  /** Values that must not be repeated in a message. */
  readonly hidden: ReadonlyArray<string>;
  readonly options: RequestOptions & { readonly maxAttempts: number };
  /** When its time is over, by `performance.now()`. */
  readonly endsAt: number;
  /** Sends begun so far. */
  sends: number;
  /** How long they took, since one was counted. */
  sentMs: number;
  /** Whether its request may have been sent before. */
  isResend: boolean;
  /** Whether one of its sends may have taken effect. */
  isInDoubt: boolean;
  /** The token of the last send. */
  token: Redacted.Redacted | undefined;
  /** Whether the last send was made with a token signed in for after the one before was rejected. */
  hasFreshToken: boolean;
  /** The last response, and what must not be shown of it. */
  answered: { readonly response: WireResponse; readonly hidden: ReadonlyArray<string> } | undefined;
}

const leftMs = ({ endsAt }: Call): number => Math.max(0, endsAt - performance.now());

const timeIsOver = ({ called, options }: Call): Failed =>
  failedAs("notSentUntilFixed", called, {
    was: `not sent: the call's limit of ${options.timeoutMs} ms had passed`,
  });

/** A wait before a send, no longer than the call may last. */
const within = <A>(call: Call, wait: Effect.Effect<A, Failed>): Effect.Effect<A, Failed> =>
  call.endsAt === Infinity
    ? wait
    : Effect.timeoutOrElse(wait, {
        duration: leftMs(call),
        orElse: () => Effect.fail(timeIsOver(call)),
      });

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

/** More than a service has words for its refusals, unless they hold ids. */
const MOST_REFUSALS = 100;

/** Makes a client with these settings; its connections are closed with the scope. */
export const makeOperations = (
  options: ClientOptions,
): Effect.Effect<PaymentsClientShape, never, Scope.Scope> =>
  Effect.gen(function* () {
    const say = makeSay(options.logger);
    const credentials = credentialsOf(options);
    const limiter = yield* RateLimiter.RateLimiter;
    const send = withSpans(withHooks(yield* makeSend(options, credentials), options, say));
    const session = yield* makeSession({ options, credentials, limiter, say, send });

    const withinRate = makeRateLimiter(limiter, options);
    /** The token of the last send and the one before it, which may still be good. */
    let tokens: ReadonlyArray<string> = [];
    /** Refusals that mention a token, although a fresh token got the same words. */
    const refusals = new Set<string>();

    /** The outcome of a send, in which a refusal is distinguished from a rejected token. */
    const judged = (
      outcome: ParsedResponse<unknown>,
      { called, hasFreshToken }: Call,
    ): ParsedResponse<unknown> => {
      if (outcome._tag !== "TokenRejected" || outcome.otherwise === undefined) return outcome;
      const { error } = outcome.otherwise;
      const words = `${called.name} ${error._tag === "Refused" ? error.reason : error.message}`;
      if (hasFreshToken) {
        if (refusals.size === MOST_REFUSALS) refusals.clear();
        refusals.add(words);
      }
      return refusals.has(words) ? outcome.otherwise : outcome;
    };

    const tokenFor = (called: Operation): Effect.Effect<Redacted.Redacted, Failed> =>
      Effect.mapError(session.token, (error) =>
        failed(
          notSent(called, error),
          session.isLasting(error) ? "never" : "always",
          error._tag === "RateLimited" ? error.retryAfter : undefined,
        ),
      );

    /** One send with a token, and what its response means. */
    const sendOnce = (
      call: Call,
      token: Redacted.Redacted,
    ): Effect.Effect<ParsedResponse<unknown>, Failed> => {
      const { called, isResend } = call;
      const { request } = call.prepared;
      const left = Math.ceil(leftMs(call));
      if (left === 0) return Effect.fail(timeIsOver(call));
      call.sends += 1;
      call.token = token;
      const tokenText = Redacted.value(token);
      if (tokens[0] !== tokenText) tokens = [tokenText, ...tokens.slice(0, 1)];
      const hidden = [...call.hidden, ...tokens, Redacted.value(credentials.apiKey())];
      const headers: Record<string, string> = {
        ...call.options.headers,
        [CLIENT_ID_HEADER]: options.clientId,
        [TOKEN_HEADER]: `Bearer ${tokenText}`,
      };
      if (request.body !== undefined) headers["content-type"] = "application/json";
      const timeoutMs = Math.min(options.requestTimeoutMs, left);
      const beganAt = performance.now();
      return send({ ...request, headers, attempt: call.sends, timeoutMs }, mayBeSent(called)).pipe(
        Effect.mapError((failure) => {
          call.sentMs += performance.now() - beganAt;
          if (failure._tag === "Failed") return failure;
          call.isResend ||= failure.sent;
          return parseNoResponse(called, failure);
        }),
        Effect.map((response) => {
          call.sentMs += performance.now() - beganAt;
          call.isResend = true;
          call.answered = { response, hidden };
          const { assumptions } = options;
          return parseResponse({ operation: called, assumptions, hidden, isResend }, response);
        }),
      );
    };

    const attempt = (call: Call): Effect.Effect<ParsedResponse<unknown>> =>
      within(call, withinRate).pipe(
        Effect.andThen(within(call, tokenFor(call.called))),
        Effect.flatMap((token) => sendOnce(call, token)),
        Effect.match({
          onFailure: (failure) => failure,
          onSuccess: (outcome) => judged(outcome, call),
        }),
      );

    const count = (call: Call, outcome: Parameters<typeof countAttempt>[1]): void => {
      countAttempt(call.called.name, outcome, call.sentMs);
      call.sentMs = 0;
    };

    /** Sends a request until it has succeeded, or may not be sent again. */
    const exchange = Effect.fnUntraced(function* (
      call: Call,
    ): Effect.fn.Return<unknown, PaymentsError> {
      const { called } = call;
      for (let tries = 1; ; tries++) {
        const outcome = yield* attempt(call);
        if (outcome._tag === "Success") {
          count(call, "Success");
          return outcome.value;
        }
        const limits = { ...options, maxAttempts: call.options.maxAttempts };
        const next = nextStep(outcome, { ...call, tries }, limits, yield* Random.next);
        if (outcome._tag === "TokenRejected") {
          if (call.token !== undefined) yield* session.reject(call.token);
          if (!next.isAgain) count(call, next.error._tag);
          call.isInDoubt ||= outcome.isInDoubt;
        } else {
          count(call, outcome.error._tag);
          call.isInDoubt ||= outcome.error.carriedOut === "unknown";
        }
        if (!next.isAgain) return yield* Effect.fail(next.error);
        call.hasFreshToken = outcome._tag === "TokenRejected";
        if (outcome._tag === "TokenRejected") continue;
        if (next.waitMs >= leftMs(call)) {
          return yield* Effect.fail(errorOfCall(outcome.error, call.isInDoubt));
        }
        yield* say.debug(
          `${called.name}: send ${tries} failed (${outcome.error.message}); again in ${Math.round(next.waitMs)} ms.`,
        );
        yield* Effect.sleep(next.waitMs);
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
      const { headers = {}, maxAttempts = options.maxAttempts, timeoutMs } = requestOptions;
      const call: Call = {
        called,
        prepared,
        hidden: [...prepared.hidden, ...secretHeaderValues(headers)],
        options: { ...requestOptions, maxAttempts },
        endsAt: timeoutMs === undefined ? Infinity : performance.now() + timeoutMs,
        sends: 0,
        sentMs: 0,
        isResend,
        isInDoubt: false,
        token: undefined,
        hasFreshToken: false,
        answered: undefined,
      };
      const data = yield* exchange(call);
      if (!hasResponse || call.answered === undefined) return data;
      const { hidden, response } = call.answered;
      return { data, status: response.status, headers: maskedHeaders(response.headers, hidden) };
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
