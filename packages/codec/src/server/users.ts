import { messageOf } from "@durable-payments/client/values";
import type { Settings } from "@durable-payments/protocol/settings";
import * as Schema from "effect/Schema";
import { createHash, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";

/** The codec server cannot start with its settings; the message says why. */
export class CannotServe extends Error {
  override readonly name = "CannotServe";
}

/**
 * Rights of a user: `masked` sees values without names, account numbers and the like; `reader` sees them all; `editor`
 * may encode, too, as starting and signalling runs in the Web UI needs.
 */
export const CODEC_ROLES = ["masked", "reader", "editor"] as const;

/** A user of the codec server. */
export interface CodecUser {
  readonly name: string;
  readonly role: (typeof CODEC_ROLES)[number];
}

/** Returns the sender of a request; undefined if it is unknown. */
export type Authenticate = (authorization: string | undefined) => Promise<CodecUser | undefined>;

/** The keys that sign the tokens of users, and the claims that these must have. */
type TokenIssuer = NonNullable<NonNullable<Settings["codecServer"]>["tokens"]>;

const Text = Schema.NonEmptyString;

/** One entry of the file of users. */
const EntrySchema = Schema.Struct({
  name: Text,
  role: Schema.Literals(CODEC_ROLES),
  /** SHA-256 of a token that was given to the user, in hex. */
  tokenSha256: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))),
  /** The claim `sub` or `email` of a token that an issuer has signed. */
  subject: Schema.optionalKey(Text),
  /** One of the claim `groups` of such a token. */
  group: Schema.optionalKey(Text),
}).check(
  Schema.makeFilter(
    ({ group, subject, tokenSha256 }) => (tokenSha256 ?? subject ?? group) !== undefined,
  ),
);

interface Entry extends Schema.Schema.Type<typeof EntrySchema> {}

const isEntries = Schema.is(Schema.Array(EntrySchema));

const readEntries = async (file: string): Promise<ReadonlyArray<Entry>> => {
  let entries: unknown;
  try {
    entries = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new CannotServe(`The users file cannot be read: ${messageOf(error)}.`);
  }
  if (isEntries(entries)) return entries;
  throw new CannotServe(
    'The users file must contain a list of { "name", "role": "masked", "reader" or "editor", and "tokenSha256" (64 hex digits), "subject" or "group" }.',
  );
};

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

const BEARER = /^Bearer +(?<token>\S+)$/i;

const isTokenOf = (token: string, { tokenSha256 }: Entry): boolean =>
  tokenSha256 !== undefined &&
  timingSafeEqual(createHash("sha256").update(token).digest(), Buffer.from(tokenSha256, "hex"));

type Claims = Readonly<Record<string, unknown>>;

const verifier = async ({
  audience,
  issuer,
  jwksUrl,
}: TokenIssuer): Promise<(token: string) => Promise<Claims | undefined>> => {
  const { createRemoteJWKSet, errors, jwtVerify } = await import("jose");
  const keys = createRemoteJWKSet(new URL(jwksUrl));
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, { audience, issuer });
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout))
        return undefined;
      throw error;
    }
  };
};

const isOf = (claims: Claims, { group, subject }: Entry): boolean => {
  const { email, groups, sub } = claims;
  return (
    (subject !== undefined && (subject === sub || subject === email)) ||
    (group !== undefined && Array.isArray(groups) && groups.includes(group))
  );
};

/**
 * Reads the users of the codec server from a file. It is read again at each request, so a removed user loses access at
 * once.
 *
 * @param file path of JSON: a list of users, each with `name` and `role`. A third field identifies the user: `tokenSha256`
 *   of a token that they have received, or the `subject` or `group` that a signed token names.
 * @param issuer signs the tokens of users; without it, only tokens with a `tokenSha256` count.
 * @returns the authentication of {@link startCodecServer}.
 * @throws CannotServe if the file cannot be read.
 */
export const authenticateByFile = async (
  file: string,
  issuer?: TokenIssuer,
): Promise<Authenticate> => {
  await readEntries(file);
  const verify = issuer && (await verifier(issuer));
  return async (authorization) => {
    const token = BEARER.exec(authorization ?? "")?.groups?.["token"];
    if (token === undefined) return undefined;
    const entries = await readEntries(file);
    const known = entries.find((entry) => isTokenOf(token, entry));
    if (known !== undefined) return { name: known.name, role: known.role };
    const claims = await verify?.(token);
    if (claims === undefined) return undefined;
    const entry = entries.find((each) => isOf(claims, each));
    // A group has many users: the log says which one.
    const subject = textOf(claims["email"]) ?? textOf(claims["sub"]);
    return entry && { name: subject ?? entry.name, role: entry.role };
  };
};
