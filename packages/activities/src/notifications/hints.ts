/**
 * Hints of the service that something has changed: signed by Standard Webhooks, and never believed.
 *
 * The service's document shows no webhooks, so the place of the id in a hint is an assumption
 * (`hints.idFields`). Nothing else of it is read. A verified hint only makes the next reading of that object due now:
 * a forged, late, repeated or lost one cannot change what a run believes, because the reading decides.
 */
import { isRecord } from "@durable-payments/client/values";
import type { Settings } from "@durable-payments/protocol/settings";
import { Webhook } from "standardwebhooks";
import { readKey } from "./webhook.ts";

/** How hints are received. */
export interface HintSettings {
  /** A port of 127.0.0.1, or `HOST:PORT`. */
  readonly address: string;
  readonly key: Uint8Array;
  /** Paths of the fields that may have the id: `data.payout_id`. */
  readonly idFields: ReadonlyArray<string>;
}

const ID_FIELDS = ["payout_id", "card_holder_id", "data.payout_id", "data.card_holder_id"];

/** An id of the service is short. */
const MOST_CHARACTERS = 200;

/**
 * Checks how hints are received.
 *
 * @returns undefined without an address: then none is.
 * @throws Error that says what is wrong, and does not repeat the secret.
 */
export const readHintSettings = ({
  address,
  idFields = ID_FIELDS,
  secret = "",
}: NonNullable<Settings["hints"]>): HintSettings | undefined => {
  const name = "PAYMENTS_HINTS_SECRET (hints.secret)";
  if (address !== undefined) return { address, idFields, key: readKey(name, secret) };
  if (secret === "") return undefined;
  throw new Error(`${name} is set, but hints.address in the settings file is not.`);
};

/** A request: an id to read, nothing that is known, or a signature that is not the service's. */
export type Hint = { readonly id: string } | "other" | "forged";

/** Reads a hint. A signature is valid for five minutes. */
export const readHint = (
  { idFields, key }: Pick<HintSettings, "idFields" | "key">,
  headers: Readonly<Record<string, string>>,
  body: string,
): Hint => {
  let said: unknown;
  try {
    said = new Webhook(key, { format: "raw" }).verify(body, headers);
  } catch {
    return "forged";
  }
  const valueAt = (path: string): unknown =>
    path.split(".").reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), said);
  const id = idFields.map(valueAt).find((value) => typeof value === "string" && value !== "");
  return typeof id === "string" && id.length <= MOST_CHARACTERS ? { id } : "other";
};
