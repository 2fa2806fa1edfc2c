import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import type * as Scope from "effect/Scope";
import * as Random from "effect/Random";
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import * as Tracer from "effect/Tracer";
import * as RateLimiter from "effect/persistence/RateLimiter";
import { CLIENT_ID_HEADER, TOKEN_HEADER } from "../contract/signed-in.ts";
import { BeforeSend, IsResend } from "./client-references.ts";
import { checkRequest } from "./check-request.ts";
import type { ClientOptions } from "./config.ts";
import { countAttempt } from "./attempt-metric.ts";
import { NotAuthenticated, type PaymentsError } from "./errors.ts";
import { type Operation, operation, type OperationName } from "./operations.ts";
import { operationNames } from "./operation-names.ts";
import type { Operations, PaymentsClientShape } from "./client-shape.ts";
import { makeListStreams } from "./list-streams.ts";
import { makeRateLimiter } from "./rate-limiter.ts";
import { type Prepared, prepareRequest } from "./prepare-request.ts";
import { parseResponse } from "./parse-response.ts";
import {
  type Failed,
  failed,
  type ParsedResponse,
  parseNoResponse,
  type ResponseContext,
} from "./parsed-response.ts";
import { mayRetry, errorOfCall, retryDelayMs } from "./retry-policy.ts";
import { makeSend } from "./send.ts";
import { makeSession, notSent } from "./session.ts";

/** Says once, by operation and field, never the value, what could not be read in answers. */
const makeNoteIgnored = () => {
  const noted = new Set<string>();
  return (name: string, fields: ReadonlyArray<string>): Effect.Effect<void> => {
    const fresh = fields.filter((field) => !noted.has(`${name} ${field}`));
    for (const field of fresh) noted.add(`${name} ${field}`);
    return fresh.length === 0
      ? Effect.void
      : Effect.logWarning(
          `${name}: fields of its answer cannot be read and are left out: ${fresh.join(", ")}`,
        );
  };
};

/** Whether the request of a call may have been sent before. */
interface Sends {
  isResend: boolean;
}

/** A stack trace for each span would cost more than checking the request. */
const SPAN = { kind: "client", captureStackTrace: false } as const;

/** Whether anybody sees a span: the default tracer keeps none. */
const isTraced = (tracer: Tracer.Tracer): boolean => tracer !== Tracer.nativeTracer;

/** Make a client with these settings; its connections are closed with the scope. */
export const makeOperations = (
  options: ClientOptions,
): Effect.Effect<PaymentsClientShape, never, Scope.Scope> =>
  Effect.gen(function* () {
    const send = yield* makeSend(options);
    const session = yield* makeSession(options, send);
    const limiter = yield* RateLimiter.RateLimiter;

    const withinRate = makeRateLimiter(limiter, options);
    const noteIgnored = makeNoteIgnored();
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
            error._tag === "NotAuthenticated" ? "never" : "always",
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
      called: Operation,
      { ids, isKeyed, request, secrets }: Prepared,
      sends: Sends,
      token: Redacted.Redacted,
    ): Effect.Effect<ParsedResponse<unknown>, Failed> => {
      const { isResend } = sends;
      const headers: Record<string, string> = {
        [CLIENT_ID_HEADER]: options.clientId,
        [TOKEN_HEADER]: `Bearer ${Redacted.value(token)}`,
      };
      if (request.body !== undefined) headers["content-type"] = "application/json";
      return send({ ...request, headers }, mayBeSent(called)).pipe(
        Effect.mapError((failure) => {
          if (failure._tag === "Failed") return failure;
          sends.isResend ||= failure.sent;
          return parseNoResponse(called, failure);
        }),
        Effect.flatMap((response) => {
          sends.isResend = true;
          const context: ResponseContext = {
            operation: called,
            assumptions: options.assumptions,
            secrets: [...secrets, Redacted.value(token), Redacted.value(options.apiKey)],
            ids,
            isKeyed,
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
    const isAccepted = Effect.fnUntraced(function* (token: Redacted.Redacted) {
      yield* withinRate;
      const pinged = yield* Effect.result(sendOnce(ping, preparedPing, { isResend: false }, token));
      if (Result.isFailure(pinged)) return undefined;
      const { _tag } = pinged.success;
      return _tag === "Success" ? true : _tag === "TokenRejected" ? false : undefined;
    });

    const exchange = Effect.fnUntraced(function* (
      called: Operation,
      prepared: Prepared,
      sends: Sends,
    ): Effect.fn.Return<unknown, Failed> {
      for (let renewed = false; ; renewed = true) {
        yield* withinRate;
        const token = yield* tokenFor(called);
        const reading = yield* sendOnce(called, prepared, sends, token);
        if (reading._tag === "Success") {
          if (reading.ignored.length > 0) yield* noteIgnored(called.name, reading.ignored);
          return reading.value;
        }
        if (reading._tag === "Failed") return yield* Effect.fail(reading);
        const { otherwise, reason } = reading;
        if (otherwise !== undefined && called !== ping && (renewed || session.isInUse(token))) {
          // Its words alone speak of a token, and may speak of anything else.
          const isGood = yield* isAccepted(token);
          if (isGood === true || (renewed && isGood === undefined)) {
            return yield* Effect.fail(otherwise);
          }
        }
        yield* session.reject(token);
        if (renewed) {
          return yield* Effect.fail(
            failed(
              new NotAuthenticated({
                operation: called.name,
                carriedOut: "no",
                message: `${called.name} was not carried out: a fresh token was rejected too (${reason}).`,
              }),
              "never",
            ),
          );
        }
      }
    });

    const call = Effect.fnUntraced(function* (
      called: Operation,
      input: unknown,
      isResend: boolean,
    ): Effect.fn.Return<unknown, PaymentsError> {
      const checked = checkRequest(called, input, options.assumptions);
      if (Result.isFailure(checked)) return yield* checked.failure;
      const prepared = prepareRequest(called, checked.success, options);
      const sends: Sends = { isResend };
      let isInDoubt = false;
      for (let attempt = 1; ; attempt++) {
        const result = yield* Effect.result(exchange(called, prepared, sends));
        yield* countAttempt(
          called.name,
          Result.isSuccess(result) ? "Success" : result.failure.error._tag,
        );
        if (Result.isSuccess(result)) return result.success;
        const failure = result.failure;
        isInDoubt ||= failure.error.carriedOut === "unknown";
        if (!mayRetry(called, failure, attempt, options)) {
          return yield* Effect.fail(errorOfCall(failure, isInDoubt));
        }
        yield* Effect.sleep(retryDelayMs(failure, attempt, options, yield* Random.next));
      }
    });

    const operations = Object.fromEntries(
      operationNames.map((name) => {
        const called = operation(name);
        const run = (input?: unknown) =>
          Effect.withFiber<unknown, PaymentsError>((fiber) => {
            const calling = call(called, input, fiber.getRef(IsResend));
            return isTraced(fiber.getRef(Tracer.Tracer))
              ? Effect.withSpan(calling, name, SPAN)
              : calling;
          });
        return [name, run];
      }),
      // Each name is called with its own input and answers its own output; both come from the
      // contract that the types are taken from.
    ) as unknown as Operations;

    return { ...operations, streams: makeListStreams(operations), options };
  }).pipe(Effect.provide(RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory))));
