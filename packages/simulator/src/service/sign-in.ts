import {
  API_KEY_HEADER,
  CLIENT_ID_HEADER,
  SignedIn,
  TOKEN_HEADER,
} from "@durable-payments/api-core/contract";
import { Effect, Layer } from "effect";
import { HttpServerRequest } from "effect/http";
import { HttpApiBuilder } from "effect/http-api";
import { randomBytes } from "node:crypto";
import { LedgerStore, type Unit } from "../ledger/ledger-store.ts";
import { Settings, type SettingsShape } from "../settings.ts";
import {
  TemperamentInForce,
  type TemperamentInForceShape,
} from "../temperament/temperaments-in-force.ts";
import { dataAnswer, refusalAnswer } from "./answers.ts";
import { SimulatedApi } from "./simulated-api.ts";

const SIGN_INS_PER_MINUTE = 50;
const MINUTE = 60_000;

const expiryText = (expiresAt: number, form: SettingsShape["expiryForm"]): number | string => {
  switch (form) {
    case "milliseconds":
      return expiresAt;
    case "seconds":
      return Math.floor(expiresAt / 1000);
    case "iso":
      return new Date(expiresAt).toISOString();
  }
};

const signIn = (
  unit: Unit,
  settings: SettingsShape,
  { current }: TemperamentInForceShape,
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
  const { apiKey, clientId } = settings;
  if (headers[CLIENT_ID_HEADER] !== clientId || headers[API_KEY_HEADER] !== apiKey) {
    return refusalAnswer("Invalid client id or API key", { status: 401 });
  }
  const auth_token = randomBytes(24).toString("base64url");
  const { clockOffsetMs = 0, tokenMs = Infinity } = current();
  const expires_at = unit.now + Math.min(settings.tokenLifetime, tokenMs);
  unit.put("tokens", auth_token, { auth_token, issued_at: unit.now, expires_at });
  return dataAnswer({
    auth_token,
    [settings.expiryField]: expiryText(expires_at + clockOffsetMs, settings.expiryForm),
  });
};

/** Makes every token invalid that was issued so far. */
export const expireTokens = (unit: Unit): void => {
  for (const token of unit.all("tokens")) {
    unit.put("tokens", token.auth_token, { ...token, expires_at: 0 });
  }
};

/**
 * Lets only requests pass that carry the client's id and a token that is valid; ping needs the token
 * alone. When a token was used last is forgotten in a restart: its sign-in counts then.
 */
export const SignedInLayer = Layer.effect(
  SignedIn,
  Effect.gen(function* () {
    const store = yield* LedgerStore;
    const temperament = yield* TemperamentInForce;
    const { clientId } = yield* Settings;
    const usedAt = new Map<string, number>();
    const isUsable = ({ get, now }: Unit, token: string): boolean => {
      const issued = get("tokens", token);
      const { idleTokenMs = Infinity } = temperament.current();
      if (issued === undefined || issued.expires_at <= now) return false;
      if (now - (usedAt.get(token) ?? issued.issued_at) > idleTokenMs) return false;
      usedAt.set(token, now);
      return true;
    };
    return (handled, { endpoint }) =>
      Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest.HttpServerRequest;
        const [scheme, token] = (headers[TOKEN_HEADER] ?? "").split(" ");
        const valid = yield* store.transact(
          (unit) =>
            (endpoint.identifier === "ping" || headers[CLIENT_ID_HEADER] === clientId) &&
            scheme === "Bearer" &&
            isUsable(unit, token ?? ""),
        );
        return valid ? yield* handled : refusalAnswer("Token expired or invalid", { status: 401 });
      });
  }),
);

/** Operations of the group "auth". */
export const AuthHandlers = HttpApiBuilder.group(
  SimulatedApi,
  "auth",
  Effect.fn(function* (handlers) {
    const store = yield* LedgerStore;
    const settings = yield* Settings;
    const temperament = yield* TemperamentInForce;
    return handlers.handleAll({
      signIn: ({ headers }) =>
        store.transact((unit) => signIn(unit, settings, temperament, headers)),
      ping: () => Effect.succeed({ message: "pong" }),
    });
  }),
);
