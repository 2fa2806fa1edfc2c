import * as Schema from "effect/Schema";
import * as SchemaGetter from "effect/SchemaGetter";
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint";
import * as HttpApiSchema from "effect/http-api/HttpApiSchema";
import { endpointGroup } from "./endpoint-group.ts";
import { enveloped, Refusal } from "./envelope.ts";
import { API_KEY_HEADER, CLIENT_ID_HEADER, SignedIn } from "./signed-in.ts";
import { Idempotency } from "./operation-facts.ts";
import { decodedBy, fieldsOf, type LenientDecoder, UNREADABLE } from "./lenient-decoder.ts";

const expiry = Schema.optionalKey(Schema.NullOr(Schema.Union([Schema.Finite, Schema.String])));

/** Below this, an expiry number counts seconds since 1970; from it on, milliseconds (year 1973). */
const SMALLEST_MILLISECONDS = 1e11;

/** A time without offset is the service's, not this machine's: UTC. */
const withOffset = (time: string): string =>
  /(z|[+-]\d\d:?\d\d)$/i.test(time) ? time : `${time}Z`;

const toMilliseconds = (value: unknown): number | undefined => {
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  const text = String(value).trim();
  if (/^\d+(\.\d+)?$/.test(text)) {
    const number = Number(text);
    return number < SMALLEST_MILLISECONDS ? number * 1000 : number;
  }
  const parsed = Date.parse(withOffset(text));
  return Number.isNaN(parsed) ? undefined : parsed;
};

/** What can be written into a header; anything else is no token. */
const HEADER_TEXT = /^[\x21-\x7e]+$/u;

const tokenOf = (wire: Readonly<Record<string, unknown>>, auth_token: string) => {
  const expires_at = toMilliseconds(wire["expires_at"]) ?? toMilliseconds(wire["expired_at"]);
  return expires_at === undefined ? { auth_token } : { auth_token, expires_at };
};

const lenientToken: LenientDecoder = (wire) => {
  const given = fieldsOf(wire);
  const auth_token = given?.["auth_token"];
  return given !== undefined && typeof auth_token === "string" && HEADER_TEXT.test(auth_token)
    ? tokenOf(given, auth_token)
    : UNREADABLE;
};

/**
 * A token and when it expires, in milliseconds since 1970; absent where the answer says nothing
 * that can be read. The service's samples name the field `expired_at` and `expires_at`, and its
 * document calls it a number and an ISO time: each of these is accepted.
 */
export const Token = decodedBy(
  Schema.Struct({
    auth_token: Schema.String.check(Schema.isPattern(HEADER_TEXT)),
    expired_at: expiry,
    expires_at: expiry,
  }).pipe(
    Schema.decodeTo(
      Schema.Struct({ auth_token: Schema.String, expires_at: Schema.optionalKey(Schema.Finite) }),
      {
        decode: SchemaGetter.transform((wire) => tokenOf(wire, wire.auth_token)),
        encode: SchemaGetter.transform(({ auth_token, expires_at }) =>
          expires_at === undefined ? { auth_token } : { auth_token, expires_at },
        ),
      },
    ),
  ),
  lenientToken,
);

const pongFields = {
  /** `pong`. */
  message: Schema.String,
};

/** What ping answers. */
export interface Pong extends Schema.Struct.Type<typeof pongFields> {}

/** Schema of {@link Pong}. */
export class PongSchema extends Schema.Opaque<Pong>()(
  Schema.Struct(pongFields).pipe(HttpApiSchema.status(200)),
) {}

/** The client signs in by itself. */
const signIn = HttpApiEndpoint.post("signIn", "/api/v1/auth/signin", {
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
  ping: HttpApiEndpoint.get("ping", "/api/v1/ping", {
    success: PongSchema,
    error: Refusal,
  })
    .annotate(Idempotency, "safe")
    .middleware(SignedIn),
};

/** The sign-in, and the check of its token. */
export const auth = endpointGroup("auth", { signIn, ...authOperations });
