import * as Cause from "effect/Cause";
import * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Option from "effect/Option";
import * as Redacted from "effect/Redacted";
import * as Result from "effect/Result";
import type * as Scope from "effect/Scope";
import * as Tracer from "effect/Tracer";
import { CLIENT_ID_HEADER, TOKEN_HEADER } from "../contract/operation-facts.ts";
import {
  type Caller,
  optionFaults,
  type RequestOptions,
  type WithResponse,
} from "./call-options.ts";
import type { Calls } from "./calls.ts";
import { checkRequest, prepareRequest } from "./check-request.ts";
import { BeforeSend } from "./client-shape.ts";
import { monotonicMs } from "./clock.ts";
import type { ClientOptions } from "./config.ts";
import type { PaymentsError } from "./errors.ts";
import { invalidRequest } from "./invalid-request.ts";
import { withHooks } from "./hooks.ts";
import { type Limits, makeLimits } from "./limits.ts";
import { operation, type OperationName } from "./operations.ts";
import { type Failed, failed } from "./outcomes.ts";
import { parseNoResponse, timeIsOver } from "./failures.ts";
import { parseResponse, type TokenRejected } from "./parse-response.ts";
import { maskedHeaders, secretHeaderValues } from "./redact.ts";
import { withRetry } from "./retry.ts";
import { makeSay } from "./say.ts";
import type { Answer, Outgoing, Send, Transport } from "./send.ts";
import { makeSession, type Session } from "./session.ts";
import { isTraced, SPAN, withCounting, withSpans } from "./telemetry.ts";

/*
 * The way of a call: one function type, `Send`, and stages that make one from another. From the socket outwards:
 *
 *   Transport        one request, one response; a failure says whether a byte may have left (exchange.ts)
 *   withHooks        calls onRequest and onResponse
 *   withSpans        a span for each send, and the header traceparent
 *   withDeadline     no longer than the rest of the call's time
 *   withParsing      the meaning of the response, by its class (parse-response.ts, response-class.ts, outcomes.ts)
 *   withCounting     the metric of requests
 *   withRate         waits for the account's turn; a 429 slows all calls (limits.ts)
 *   withToken        signs in if necessary, by the stages above; tells a rejected token from a refusal (session.ts)
 *   withGuard        hands the caller's BeforeSend down to the transport, which runs it right before the first byte
 *   withRetry        again, if the class of the operation permits (retry.ts); from here on nothing but PaymentsError
 *   call             checks options and request once, and makes the first Outgoing
 *
 * `Outgoing` is an immutable value. A stage changes a copy and passes it down; what is learned goes up in the answer or
 * in the failure. So the state of a call is never shared: retry folds it from send to send, and a stage can be read, and
 * tested, alone.
 *
 * Four parts outlive a call: Transport, Limits (rate, pauses, connections, priority), Session (the token) and Credentials
 * (the files). All time is that of Effect's Clock: TestClock alone drives time limits,
 * waits, tokens and rates.
 *
 * Why the client is not Effect's `HttpApiClient` with `HttpClient`, although the contract is an `HttpApi`:
 * - no `HttpClient` can say that no byte has left, on which the repetition of a payment depends;
 * - path, query and body of an operation are one object, and every fault of it is named at once, across fields too;
 * - wire names and one method are settings (the assumptions), so that they cannot be part of a schema;
 * - the body is parsed once, and a damaged envelope must not hide what may have happened;
 * - a request costs half the CPU.
 */

type Failure = Failed | TokenRejected;

/** Waits no longer than the call may last. */
const within = <A>(request: Outgoing, wait: Effect.Effect<A, Failed>): Effect.Effect<A, Failed> => {
  const { limit } = request;
  if (limit === undefined) return wait;
  return Effect.clockWith((clock) =>
    Effect.timeoutOrElse(wait, {
      duration: Math.max(0, limit.endsAt - monotonicMs(clock)),
      orElse: () => Effect.fail(timeIsOver(request)),
    }),
  );
};

const withDeadline =
  (send: Send): Send =>
  (request) => {
    const { limit, timeoutMs } = request;
    if (limit === undefined) return send(request);
    return Effect.clockWith((clock) => {
      const leftMs = Math.ceil(limit.endsAt - monotonicMs(clock));
      return leftMs <= 0
        ? Effect.fail(timeIsOver(request))
        : send({ ...request, timeoutMs: Math.min(timeoutMs, leftMs) });
    });
  };

/** The meaning of a response instead of the response. */
export const withParsing =
  (send: Send, { assumptions }: ClientOptions): Send<Answer, Failure> =>
  (request) =>
    Effect.matchEffect(send(request), {
      onFailure: (failure) =>
        Effect.fail(
          failure._tag === "Failed" ? failure : parseNoResponse(request.operation, failure),
        ),
      onSuccess: (response): Effect.Effect<Answer, Failure> => {
        const parsed = parseResponse({ ...request, assumptions }, response);
        return parsed._tag === "Success"
          ? Effect.succeed({ response, value: parsed.value })
          : Effect.fail(parsed);
      },
    });

/** For how long the account has to send nothing after a send, in milliseconds. */
const pauseAfter = (exit: Exit.Exit<Answer, Failure>): number | undefined => {
  const failure = Exit.isFailure(exit) ? Cause.findErrorOption(exit.cause) : Option.none();
  return Option.isSome(failure) && failure.value._tag === "Failed"
    ? failure.value.pauseMs
    : undefined;
};

const withRate =
  (send: Send<Answer, Failure>, limits: Limits): Send<Answer, Failure> =>
  (request) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(limits.turn(request)), (turn) =>
        Effect.onExit(restore(send(request)), (exit) =>
          Effect.sync(() => limits.ended(turn, pauseAfter(exit))),
        ),
      ),
    );

const withToken =
  (
    send: Send<Answer, Failure>,
    session: Session,
    { clientId }: ClientOptions,
  ): Send<Answer, Failure> =>
  (request) =>
    Effect.flatMap(within(request, session.tokenFor(request.operation)), (token) => {
      const headers = {
        ...request.headers,
        [CLIENT_ID_HEADER]: clientId,
        [TOKEN_HEADER]: `Bearer ${Redacted.value(token)}`,
      };
      return send({ ...request, headers }).pipe(
        Effect.catch((failure): Effect.Effect<never, Failure> => {
          if (failure._tag === "Failed") return Effect.fail(failure);
          const { otherwise } = failure;
          if (otherwise !== undefined) {
            const { error } = otherwise;
            const words = error._tag === "RequestRefused" ? error.reason : error.message;
            const { hasFreshToken, operation: called } = request;
            if (session.isRefusal(`${called.name} ${words}`, hasFreshToken)) {
              return Effect.fail(otherwise);
            }
          }
          return Effect.andThen(session.reject(token), Effect.fail(failure));
        }),
      );
    });

/** Reads are not asked for. */
const withGuard =
  (send: Send<Answer, Failure>): Send<Answer, Failure> =>
  (request) =>
    request.operation.idempotency === "safe"
      ? send(request)
      : Effect.flatMap(BeforeSend, (beforeSend) => {
          // signIn alone has another name, and is safe.
          const asked = beforeSend(request.operation.name as OperationName);
          return send({ ...request, permit: Effect.mapError(asked, (e) => failed(e, "never")) });
        });

/** Makes the calls of a client with these options, over any transport. */
export const makeCalls = (
  options: ClientOptions,
  transport: Transport,
): Effect.Effect<Calls["Service"], never, Scope.Scope> =>
  Effect.gen(function* () {
    const say = makeSay(options.logger);
    const limits = yield* makeLimits(options);
    const sent = withDeadline(withSpans(withHooks(transport, options, say)));
    const paced = withRate(withCounting(withParsing(sent, options)), limits);
    const session = yield* makeSession(options, paced);
    const send = withRetry(withGuard(withToken(paced, session, options)), options, say);

    const prepare = (
      name: OperationName,
      input: unknown,
      given: unknown,
      caller: Caller,
      now: () => number,
    ): Result.Result<Outgoing, PaymentsError> => {
      const faults = optionFaults(given, caller);
      if (faults.length > 0) return Result.fail(invalidRequest(name, faults));
      const called = operation(name);
      const checked = checkRequest(called, input, options.assumptions);
      if (Result.isFailure(checked)) return Result.fail(checked.failure);
      const prepared = prepareRequest(called, checked.success, options);
      // They have been checked.
      const { headers, isResend, maxAttempts, priority, timeoutMs } = given as RequestOptions;
      return Result.succeed({
        ...prepared,
        headers: {
          ...headers,
          ...(prepared.body !== undefined && { "content-type": "application/json" }),
        },
        attempt: 1,
        timeoutMs: options.requestTimeoutMs,
        permit: undefined,
        isResend: isResend ?? false,
        hasFreshToken: false,
        priority: priority ?? (called.idempotency === "safe" ? "normal" : "first"),
        limit: timeoutMs === undefined ? undefined : { timeoutMs, endsAt: now() + timeoutMs },
        maxAttempts: maxAttempts ?? options.maxAttempts,
        hidden: () => [
          ...prepared.hidden(),
          ...secretHeaderValues(headers ?? {}),
          ...session.secrets(),
        ],
      });
    };

    const withItsResponse = (
      { response, value }: Answer,
      { hidden }: Outgoing,
    ): WithResponse<unknown> => ({
      data: value,
      status: response.status,
      headers: maskedHeaders(response.headers, hidden()),
    });

    const call: Calls["Service"]["call"] = (name, input, given = {}, { caller, hasResponse }) =>
      Effect.withFiber((fiber) => {
        const now = () => monotonicMs(fiber.getRef(Clock.Clock));
        const prepared = prepare(name, input, given, caller, now);
        const calling = Result.isFailure(prepared)
          ? Effect.fail(prepared.failure)
          : Effect.map(send(prepared.success), (answer) =>
              hasResponse ? withItsResponse(answer, prepared.success) : answer.value,
            );
        return isTraced(fiber.getRef(Tracer.Tracer))
          ? Effect.withSpan(calling, name, SPAN)
          : calling;
      });

    return { call, rate: limits.rate, options };
  });
