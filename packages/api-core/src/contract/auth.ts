import * as Schema from "effect/Schema";
import * as SchemaGetter from "effect/SchemaGetter";
import { get, post } from "effect/http-api/HttpApiEndpoint";
import * as HttpApiSchema from "effect/http-api/HttpApiSchema";
import { answeredNumberOrText, enveloped, Refusal } from "./answers.ts";
import {
  API_KEY_HEADER,
  CLIENT_ID_HEADER,
  endpointGroup,
  Idempotency,
  SignedIn,
} from "./operation-facts.ts";
import { readTime } from "./times.ts";

/** An expiry: seconds or milliseconds since 1970, or an ISO time. Without offset, it is in UTC. */
const toMilliseconds = (value: string | number | null | undefined): number | undefined =>
  value === undefined || value === null
    ? undefined
    : readTime(String(value), { timeZone: "UTC" })?.earliest;

/** A text that can be written into a header; anything else is not a token. */
const HEADER_TEXT = /^[\x21-\x7e]+$/u;

/**
 * A token and when it expires, in milliseconds since 1970; absent if the answer has no expiry that can be read.
 * The service's samples name the field `expired_at` and `expires_at`, and its document calls it a number and an
 * ISO time: each of these is accepted.
 */
export const Token = Schema.Struct({
  auth_token: Schema.String.check(Schema.isPattern(HEADER_TEXT)),
  expired_at: answeredNumberOrText,
  expires_at: answeredNumberOrText,
}).pipe(
  Schema.decodeTo(
    Schema.Struct({ auth_token: Schema.String, expires_at: Schema.optionalKey(Schema.Finite) }),
    {
      decode: SchemaGetter.transform(({ auth_token, expired_at, expires_at: given }) => {
        const expires_at = toMilliseconds(given) ?? toMilliseconds(expired_at);
        return { auth_token, ...(expires_at !== undefined && { expires_at }) };
      }),
      encode: SchemaGetter.passthroughSubtype(),
    },
  ),
);

/** Answer of ping. */
export interface Pong extends Schema.Struct.Type<typeof PongSchema.fields> {}
const PongSchema = Schema.Opaque<Pong>()(
  Schema.Struct({
    /** `pong`. */
    message: Schema.String,
  }).pipe(HttpApiSchema.status(200)),
);

/** The client itself signs in. */
const signIn = post("signIn", "/auth/signin", {
  headers: { [CLIENT_ID_HEADER]: Schema.String, [API_KEY_HEADER]: Schema.String },
  success: enveloped(Token),
  error: Refusal,
}).annotate(Idempotency, "safe");

/** Source: service interface, "Auth". */
export const authOperations = {
  /**
   * Check that the service can be reached and accepts the credentials.
   *
   * Idempotency class `safe`: it only reads, and is sent again after a lost answer.
   *
   * @example
   * const { message } = await client.ping();
   */
  ping: get("ping", "/ping", {
    success: PongSchema,
  })
    .annotate(Idempotency, "safe")
    .middleware(SignedIn),
};

/** The sign-in, and the check of its token. */
export const auth = endpointGroup("auth", { signIn, ...authOperations });
