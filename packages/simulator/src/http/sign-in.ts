import {
  API_KEY_HEADER,
  CLIENT_ID_HEADER,
  SignedIn,
  TOKEN_HEADER,
} from "@durable-payments/client/contract";
import { Effect, Layer } from "effect";
import { HttpServerRequest } from "effect/http";
import { randomBytes } from "node:crypto";
import type { Unit } from "../model/unit.ts";
import type { Settings } from "../settings.ts";
import { refusalAnswer } from "./faults.ts";
import type { Simulation } from "./simulation.ts";

const SIGN_INS_PER_MINUTE = 50;
const MINUTE = 60_000;

/** Issues a token; more than 50 sign-ins a minute, invalid ones too, are refused. */
export const signIn = (
  unit: Unit,
  { apiKey, clientId, tokenLifetime }: Settings,
  headers: { readonly [CLIENT_ID_HEADER]: string; readonly [API_KEY_HEADER]: string },
) => {
  const withinAMinute = unit.all("signIns").filter(({ at }) => at > unit.now - MINUTE);
  const oldest = withinAMinute.at(-SIGN_INS_PER_MINUTE);
  if (oldest !== undefined) {
    const seconds = Math.ceil((oldest.at + MINUTE - unit.now) / 1000);
    return refusalAnswer("Too many sign-ins: at most 50 a minute", {
      status: 429,
      headers: { "retry-after": String(seconds) },
    });
  }
  unit.put("signIns", String(unit.all("signIns").length), { at: unit.now });
  if (headers[CLIENT_ID_HEADER] !== clientId || headers[API_KEY_HEADER] !== apiKey) {
    return refusalAnswer("Invalid client id or API key", { status: 401 });
  }
  const auth_token = randomBytes(24).toString("base64url");
  const expires_at = unit.now + tokenLifetime;
  unit.put("tokens", auth_token, { auth_token, expires_at });
  return { auth_token, expires_at };
};

/** Makes every token invalid that was issued so far. */
export const expireTokens = (unit: Unit): void => {
  for (const token of unit.all("tokens")) {
    unit.put("tokens", token.auth_token, { ...token, expires_at: 0 });
  }
};

/** Lets only requests pass that carry the client's id and a valid token; ping needs the token alone. */
export const signedInLayer = (simulation: Simulation) =>
  Layer.succeed(SignedIn, (handled, { endpoint }) =>
    Effect.gen(function* () {
      const { headers } = yield* HttpServerRequest.HttpServerRequest;
      const [scheme, token = ""] = (headers[TOKEN_HEADER] ?? "").split(" ");
      const isOurs = headers[CLIENT_ID_HEADER] === simulation.settings.clientId;
      const isSignedIn = yield* simulation.act(
        ({ get, now }) =>
          (endpoint.identifier === "ping" || isOurs) &&
          scheme === "Bearer" &&
          (get("tokens", token)?.expires_at ?? 0) > now,
      );
      return isSignedIn
        ? yield* handled
        : refusalAnswer("Token expired or invalid", { status: 401 });
    }),
  );
