import * as Cache from "effect/Cache";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Redacted from "effect/Redacted";
import type * as RateLimiter from "effect/persistence/RateLimiter";
import type { Token } from "../contract/auth.ts";
import { API_KEY_HEADER, CLIENT_ID_HEADER } from "../contract/operation-facts.ts";
import type { Credentials } from "../credentials.ts";
import type { ClientOptions } from "./config.ts";
import { NotAuthenticated, RateLimited, Unavailable } from "./errors.ts";
import { type Operation, operation } from "./operations.ts";
import type { Failed } from "./outcomes.ts";
import { parseNoResponse, parseResponse, type TokenRejected } from "./parse-response.ts";
import type { Say } from "./say.ts";
import { countAttempt } from "./telemetry.ts";
import { answeredAt, type Send } from "./wire.ts";

/** Why there is no token. Whatever became of the sign-in, the call that needed it was not sent. */
export type SignInError = NotAuthenticated | RateLimited | Unavailable;

/** The one session of a client. */
export interface Session {
  /**
   * The token in use. Signs in if there is none or it is about to expire, once for all callers. With another API key
   * than that of the last sign-in, it signs in meanwhile, and requests keep the token until then.
   */
  readonly token: Effect.Effect<Redacted.Redacted, SignInError>;
  /** Drops a token that the service did not accept, unless it is not in use any more. */
  readonly reject: (token: Redacted.Redacted) => Effect.Effect<unknown>;
  /** Whether signing in again fails the same way until a person has done something. */
  readonly isLasting: (error: SignInError) => boolean;
}

/** Parts of a session. */
export interface SessionParts {
  readonly options: ClientOptions;
  readonly credentials: Credentials;
  readonly limiter: RateLimiter.RateLimiter;
  readonly say: Say;
  readonly send: Send;
}

/**
 * Sign-ins in the bucket of the budget. A full bucket emptied at once and then refilled for a minute
 * makes at most twice as many in any 60 seconds: less than the service's 50.
 */
const SIGN_INS_A_MINUTE = 24;

const SIGN_IN_AGAIN_MS = 60_000 / SIGN_INS_A_MINUTE;

/** A token is renewed before it expires: this much earlier, but at most a tenth of its life. */
const RENEW_BEFORE_MS = 30_000;

const untilRenewal = (life: number): number => life - Math.min(RENEW_BEFORE_MS, life / 10);

/** The longer one of the documented lives. A longer one may be the difference of two clocks. */
const LONGEST_LIFE_MS = 30 * 60_000;

/** A shorter life is the difference of two clocks, too: it would use up the budget of sign-ins. */
const SHORTEST_LIFE_MS = 2 * SIGN_IN_AGAIN_MS;

/**
 * Returns how long a token lives by the service's own clock, in milliseconds; undefined if that is not known. If it is
 * wrong, the token is rejected, and the client signs in again at once.
 */
const statedLife = (expiresAt: number | undefined, answered: number | undefined) => {
  if (expiresAt === undefined || answered === undefined) return undefined;
  const life = expiresAt - answered;
  return life < SHORTEST_LIFE_MS ? undefined : Math.min(life, LONGEST_LIFE_MS);
};

const signInOperation = operation("signIn");

/** HTTP 403 without an envelope does not say who refused. */
const REFUSED_OR_FILTERED =
  "Either PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY were refused, or a filter or gateway in front of " +
  "the service rejected the request: check both.";

const about = { operation: "signIn", carriedOut: "no" } as const;

const toSignInError = (failure: Failed | TokenRejected, status?: number): SignInError => {
  const error = failure._tag === "Failed" ? failure.error : undefined;
  const why = failure._tag === "Failed" ? failure.error.message : failure.reason;
  const message = `Signing in failed (${why}).`;
  if (error?._tag === "RateLimited") return error;
  const isRefused =
    status === 401 ||
    status === 403 ||
    failure._tag === "TokenRejected" ||
    error?._tag === "Refused";
  if (!isRefused) return new Unavailable({ ...about, message });
  const isOpen = status === 403 && error?._tag !== "Refused";
  const check = isOpen ? REFUSED_OR_FILTERED : "Check PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY.";
  return new NotAuthenticated({ ...about, message: `${message} ${check}` });
};

/** The failed sign-in as the failure of the call that needed it. */
export const notSent = (called: Operation, error: SignInError): SignInError => {
  const message = `${called.name} was not sent. ${error.message}`;
  const said = { ...about, operation: called.name, message };
  switch (error._tag) {
    case "NotAuthenticated":
      return new NotAuthenticated(said);
    case "RateLimited":
      return new RateLimited({ ...said, retryAfter: error.retryAfter });
    case "Unavailable":
      return new Unavailable(said);
  }
};

/** A session that signs in when a token is first needed, never while the client is built. */
export const makeSession = ({
  credentials,
  limiter,
  options,
  say,
  send,
}: SessionParts): Effect.Effect<Session> =>
  Effect.gen(function* () {
    const { assumptions } = options;
    const idleMs = untilRenewal(assumptions.tokenIdleSeconds * 1000);
    let lastUsedAt = 0;
    /** The key of the last sign-in, or of the last attempt at one. */
    let lastKey: Redacted.Redacted | undefined;
    /** Why the last sign-in failed. */
    let lastFault: string | undefined;
    /** Failures that a person has to remedy. */
    const lasting = new WeakSet<SignInError>();

    const takeFromBudget = limiter
      .consume({
        key: "signIn",
        algorithm: "token-bucket",
        onExceeded: "fail",
        limit: SIGN_INS_A_MINUTE,
        window: "1 minute",
      })
      .pipe(
        Effect.mapError(() => {
          const why = lastFault === undefined ? "" : `${lastFault} `;
          const check =
            lastFault === undefined ? " Check the API key and why tokens are rejected." : "";
          return new RateLimited({
            ...about,
            message: `${why}No sign-in was sent: the limit is ${SIGN_INS_A_MINUTE} per minute.${check}`,
            retryAfter: SIGN_IN_AGAIN_MS,
          });
        }),
      );

    const exchange = Effect.fnUntraced(function* (apiKey: Redacted.Redacted) {
      const answer = yield* send({
        operation: signInOperation,
        attempt: 1,
        method: signInOperation.method,
        path: signInOperation.path,
        headers: {
          [CLIENT_ID_HEADER]: options.clientId,
          [API_KEY_HEADER]: Redacted.value(apiKey),
        },
        body: undefined,
        dedicatedConnection: false,
      }).pipe(
        Effect.mapError((noResponse) => {
          const error = toSignInError(parseNoResponse(signInOperation, noResponse));
          if (noResponse.remedy !== undefined) lasting.add(error);
          return error;
        }),
      );
      const reading = parseResponse(
        {
          operation: signInOperation,
          assumptions,
          hidden: [Redacted.value(apiKey)],
          isResend: false,
        },
        answer,
      );
      if (reading._tag !== "Success") {
        return yield* toSignInError(reading, answer.status);
      }
      // signIn's answer decodes to the contract's Token.
      const token = reading.value as typeof Token.Type;
      return {
        token: Redacted.make(token.auth_token),
        lifeMs: untilRenewal(
          statedLife(token.expires_at, answeredAt(answer)) ??
            assumptions.tokenLifetimeSeconds * 1000,
        ),
      };
    });

    const signIn = Effect.fn("signIn")(function* () {
      yield* Effect.tapError(takeFromBudget, ({ _tag }) =>
        Effect.sync(() => countAttempt("signIn", _tag, 0)),
      );
      const apiKey = credentials.apiKey();
      lastKey = apiKey;
      const sentAt = performance.now();
      return yield* Effect.onExit(exchange(apiKey), (exit) =>
        Effect.sync(() => {
          const error = Exit.isFailure(exit) ? Exit.findErrorOption(exit) : undefined;
          lastFault = error?._tag === "Some" ? error.value.message : undefined;
          const outcome = error?._tag === "Some" ? error.value._tag : "Success";
          countAttempt("signIn", outcome, performance.now() - sentAt);
        }),
      );
    });

    const tokens = yield* Cache.makeWith(signIn, {
      capacity: 1,
      timeToLive: (exit) => (Exit.isSuccess(exit) ? exit.value.lifeMs : 0),
    });

    /** Once for each key: if the service refuses it, the token is as good as before. */
    const signInWithNewKey = (apiKey: Redacted.Redacted) => {
      lastKey = apiKey;
      return signIn().pipe(
        Effect.flatMap((signedIn) => Cache.set(tokens, undefined, signedIn)),
        Effect.catch(({ message }) =>
          say.warn(
            `The API key has changed. ${message} Requests use the earlier key's token until it expires.`,
          ),
        ),
        Effect.forkDetach,
      );
    };

    const current = Effect.map(Cache.get(tokens, undefined), ({ token }) => token);

    const token: Session["token"] = Effect.clockWith((clock) => {
      const now = clock.currentTimeMillisUnsafe();
      const isIdle = now - lastUsedAt >= idleMs;
      lastUsedAt = now;
      if (isIdle) return Effect.andThen(Cache.invalidate(tokens, undefined), current);
      const apiKey = credentials.apiKey();
      if (lastKey === undefined || apiKey === lastKey) return current;
      return Effect.flatMap(Cache.has(tokens, undefined), (isSignedIn) =>
        isSignedIn ? Effect.andThen(signInWithNewKey(apiKey), current) : current,
      );
    });

    return {
      token,
      isLasting: (error) => error._tag === "NotAuthenticated" || lasting.has(error),
      reject: (rejected) =>
        Cache.invalidateWhen(tokens, undefined, (signedIn) => signedIn.token === rejected),
    };
  });
