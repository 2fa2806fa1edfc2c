import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware";
import { Refusal } from "./envelope.ts";

/** Header that carries the client's id on every request. */
export const CLIENT_ID_HEADER = "x-client-id";

/** Header that carries the API key, on sign-in only. */
export const API_KEY_HEADER = "x-api-key";

/** Header that carries `Bearer <token>` on every request but sign-in. */
export const TOKEN_HEADER = "x-auth-token";

/**
 * Marks the operations that need {@link CLIENT_ID_HEADER} and {@link TOKEN_HEADER}. A server
 * implements it by checking both; the client sends them by itself.
 */
export class SignedIn extends HttpApiMiddleware.Service<SignedIn>()(
  "@durable-payments/api-core/SignedIn",
  { error: Refusal },
) {}
