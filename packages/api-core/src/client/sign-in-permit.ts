import { Context, Effect } from "effect";
import type { NotAuthenticated, RateLimited, Unavailable } from "./errors.ts";

/** Why there is no token. Whatever became of the sign-in: the call that needed it was not sent. */
export type SignInError = NotAuthenticated | RateLimited | Unavailable;

/**
 * Run before each sign-in, which is sent only where it succeeds, and at once then. By default it
 * always does: provide one to the layer of a client to hold clients in several processes to one
 * budget. It is run at most once at a time, and its error is that of the calls that wait.
 */
export const SignInPermit = Context.Reference<Effect.Effect<void, SignInError>>(
  "@durable-payments/api-core/SignInPermit",
  { defaultValue: () => Effect.void },
);
