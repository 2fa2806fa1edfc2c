/*
 * The token of a client: one sign-in serves all calls.
 *
 * Three things are not obvious. The service allows 50 sign-ins a minute, so a service that rejects each token must not
 * use them up: sign-ins have a budget. The life of a token is known by the service's clock alone, which may differ from
 * ours. And a refusal may mention a token without being about it: a second refusal with a fresh token and the same words
 * shows that.
 */
import * as Cache from "effect/Cache";
import type * as Clock from "effect/Clock";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Redacted from "effect/Redacted";
import type { Token } from "../contract/auth.ts";
import { API_KEY_HEADER, CLIENT_ID_HEADER } from "../contract/operation-facts.ts";
import { monotonicMs } from "./clock.ts";
import type { ClientOptions } from "./config.ts";
import { NotAuthenticated, RateLimited, Unavailable } from "./errors.ts";
import { type Operation, operation } from "./operations.ts";
import { type Failed, failed } from "./outcomes.ts";
import type { TokenRejected } from "./parse-response.ts";
import { makeSay } from "./say.ts";
import { type Answer, answeredAt, type Send } from "./send.ts";

/** Why there is no token. However the sign-in ended, the call that needed it was not sent. */
interface NoToken {
  /** `limited`: too many sign-ins, by the service or by the budget of this client. */
  readonly is: "refused" | "unavailable" | "limited";
  readonly message: string;
  /** The words of the service, if the failure has them. */
  readonly reason: string | undefined;
  /** `never` if a person has to do something first. */
  readonly retry: "always" | "never";
  readonly waitMs?: number;
  /** The party that limits them, by default the budget. */
  readonly by?: RateLimited["by"];
}

/** More than a service has words for its refusals, unless they hold ids. */
const MOST_REFUSALS = 100;

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
  "Either PAYMENTS_CLIENT_ID (clientId) and PAYMENTS_API_KEY (apiKey) were refused, or a filter or gateway " +
  "in front of the service rejected the request: check both.";

const noToken = (failure: Failed | TokenRejected): NoToken => {
  const { error, status } = failure._tag === "Failed" ? failure : {};
  const reason = error !== undefined && "reason" in error ? error.reason : undefined;
  if (error?._tag === "RateLimited") {
    const { by, message, retryAfter: waitMs } = error;
    return { is: "limited", message, reason, retry: "always", waitMs, by };
  }
  const why = failure._tag === "Failed" ? failure.error.message : `signIn was ${failure.reason}.`;
  const message = `Signing in failed: ${why}`;
  const isRefused =
    status === 401 ||
    status === 403 ||
    failure._tag === "TokenRejected" ||
    error?._tag === "RequestRefused";
  if (!isRefused) {
    const needsAPerson = failure.retry === "never" && status === undefined;
    return { is: "unavailable", message, reason, retry: needsAPerson ? "never" : "always" };
  }
  const isOpen = status === 403 && error?._tag !== "RequestRefused";
  const check = isOpen
    ? REFUSED_OR_FILTERED
    : "Check PAYMENTS_CLIENT_ID (clientId) and PAYMENTS_API_KEY (apiKey).";
  return { is: "refused", message: `${message} ${check}`, reason, retry: "never" };
};

/** The failed sign-in as the failure of the call that needed it. */
const notSent = (
  { name: operation }: Operation,
  { by = "signIns", is, message: why, reason, retry, waitMs = 0 }: NoToken,
): Failed => {
  const message = `${operation} was not sent. ${why}`;
  const carriedOut = "no" as const;
  const about = { operation, carriedOut, message, ...(reason !== undefined && { reason }) };
  if (is === "limited") {
    const error = new RateLimited({ ...about, retryAfter: waitMs, by });
    return failed(error, retry, { waitMs });
  }
  return failed(is === "refused" ? new NotAuthenticated(about) : new Unavailable(about), retry);
};

/** Makes the budget of sign-ins, a token bucket. It takes one sign-in, and returns false if none is left. */
const makeBudget = (clock: Clock.Clock): (() => boolean) => {
  let left = SIGN_INS_A_MINUTE;
  let at = monotonicMs(clock);
  return () => {
    const now = monotonicMs(clock);
    left = Math.min(SIGN_INS_A_MINUTE, left + (now - at) / SIGN_IN_AGAIN_MS);
    at = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
};

/** The session that all calls of a client share. It signs in when a token is first needed, never while the client is built. */
export interface Session {
  /**
   * The token for a call. Signs in if there is none or it is about to expire, once for all callers. With another API key
   * than that of the last sign-in, it signs in meanwhile, and requests keep the token until then.
   */
  readonly tokenFor: (called: Operation) => Effect.Effect<Redacted.Redacted, Failed>;
  /** Drops a token that the service did not accept, unless it is not in use any more. */
  readonly reject: (token: Redacted.Redacted) => Effect.Effect<unknown>;
  /**
   * Whether a refusal that mentions a token is about something else: a fresh token got the same words.
   *
   * @param isFresh whether this one got them with a fresh token
   */
  readonly isRefusal: (words: string, isFresh: boolean) => boolean;
  /** The API key, the present token and the one before, which may still be good: no message may show them. */
  readonly secrets: () => ReadonlyArray<string>;
}

/**
 * Makes the session of a client.
 *
 * @param send sends without a token.
 */
export const makeSession = (
  options: ClientOptions,
  send: Send<Answer, Failed | TokenRejected>,
): Effect.Effect<Session> =>
  Effect.gen(function* () {
    const clock = yield* Effect.clockWith(Effect.succeed);
    const { assumptions, credentials } = options;
    const { warn } = makeSay(options.logger);
    const takeSignIn = makeBudget(clock);
    const idleMs = untilRenewal(assumptions.tokenIdleSeconds * 1000);
    let lastUsedAt = 0;
    /** The key of the last sign-in, or of the last attempt at one. */
    let lastKey: Redacted.Redacted | undefined;
    /** Why the last sign-in failed. */
    let lastFault: string | undefined;
    let tokens: ReadonlyArray<string> = [];
    const refusals = new Set<string>();

    const overBudget = (): NoToken => {
      const limit = `No sign-in was sent: the limit is ${SIGN_INS_A_MINUTE} per minute.`;
      const message =
        lastFault === undefined
          ? `${limit} Check the API key and why tokens are rejected.`
          : `${lastFault} ${limit}`;
      return {
        is: "limited",
        message,
        reason: undefined,
        retry: "always",
        waitMs: SIGN_IN_AGAIN_MS,
      };
    };

    const signIn = Effect.fn("signIn")(function* () {
      if (!takeSignIn()) return yield* Effect.fail(overBudget());
      const apiKey = credentials.apiKey(clock.currentTimeMillisUnsafe());
      lastKey = apiKey;
      const sent = send({
        operation: signInOperation,
        attempt: 1,
        method: signInOperation.method,
        path: signInOperation.path,
        headers: {
          [CLIENT_ID_HEADER]: options.clientId,
          [API_KEY_HEADER]: Redacted.value(apiKey),
        },
        body: undefined,
        timeoutMs: options.requestTimeoutMs,
        permit: undefined,
        isResend: false,
        hasFreshToken: false,
        priority: "first",
        limit: undefined,
        maxAttempts: 1,
        hidden: () => [Redacted.value(apiKey)],
      });
      const { response, value } = yield* Effect.mapError(sent, (failure) => {
        const failedAs = noToken(failure);
        lastFault = failedAs.message;
        return failedAs;
      });
      lastFault = undefined;
      // signIn's answer decodes to the contract's Token.
      const token = value as typeof Token.Type;
      tokens = [token.auth_token, ...tokens.slice(0, 1)];
      return {
        token: Redacted.make(token.auth_token),
        lifeMs: untilRenewal(
          statedLife(token.expires_at, answeredAt(response)) ??
            assumptions.tokenLifetimeSeconds * 1000,
        ),
      };
    });

    const cache = yield* Cache.makeWith(signIn, {
      capacity: 1,
      timeToLive: (exit) => (Exit.isSuccess(exit) ? exit.value.lifeMs : 0),
    });

    /** Once for each key: if the service refuses it, the token is as good as before. */
    const signInWithNewKey = (apiKey: Redacted.Redacted) => {
      lastKey = apiKey;
      return signIn().pipe(
        Effect.flatMap((signedIn) => Cache.set(cache, undefined, signedIn)),
        Effect.catch(({ message }) =>
          warn(
            `The API key has changed. ${message} Requests use the earlier key's token until it expires.`,
          ),
        ),
        Effect.forkDetach,
      );
    };

    const current = Effect.map(Cache.get(cache, undefined), ({ token }) => token);

    const token = Effect.suspend(() => {
      const now = clock.currentTimeMillisUnsafe();
      const isIdle = now - lastUsedAt >= idleMs;
      lastUsedAt = now;
      if (isIdle) return Effect.andThen(Cache.invalidate(cache, undefined), current);
      const apiKey = credentials.apiKey(now);
      if (lastKey === undefined || apiKey === lastKey) return current;
      return Effect.flatMap(Cache.has(cache, undefined), (isSignedIn) =>
        isSignedIn ? Effect.andThen(signInWithNewKey(apiKey), current) : current,
      );
    });

    return {
      tokenFor: (called) => Effect.mapError(token, (failure) => notSent(called, failure)),
      reject: (rejected) =>
        Cache.invalidateWhen(cache, undefined, (signedIn) => signedIn.token === rejected),
      isRefusal: (words, isFresh) => {
        if (isFresh) {
          if (refusals.size === MOST_REFUSALS) refusals.clear();
          refusals.add(words);
        }
        return refusals.has(words);
      },
      secrets: () => [
        ...tokens,
        Redacted.value(credentials.apiKey(clock.currentTimeMillisUnsafe())),
      ],
    };
  });
