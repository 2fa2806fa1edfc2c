import { X509Certificate } from "node:crypto";
import { isRecord } from "../values.ts";

const CERTIFICATE = /-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs;

/**
 * Find the certificates of a text.
 *
 * @param pem certificates in PEM.
 * @returns each of them; none where there is none.
 * @throws Error where one cannot be read.
 */
export const certificatesIn = (pem: string): ReadonlyArray<X509Certificate> =>
  (pem.match(CERTIFICATE) ?? []).map((certificate) => new X509Certificate(certificate));

/** When the first of some certificates expires; undefined where there is none, or one cannot be read. */
const certificateExpiry = (pem: string): number | undefined => {
  try {
    const ends = certificatesIn(pem).map(({ validTo }) => Date.parse(validTo));
    return ends.length === 0 ? undefined : Math.min(...ends);
  } catch {
    return undefined;
  }
};

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
};

/** When an API key expires that is a JSON Web Token, as Temporal's are; its signature is not checked. */
const tokenExpiry = (key: string): number | undefined => {
  const [, payload = ""] = key.split(".");
  const claims = parsed(Buffer.from(payload, "base64url").toString());
  const expiry = isRecord(claims) ? claims["exp"] : undefined;
  return typeof expiry === "number" ? expiry * 1000 : undefined;
};

/** Credentials of which it can be said when they expire. */
export interface Expiring {
  /** API key, where it is a JSON Web Token. */
  readonly apiKey?: string;
  /** Certificates of trusted CAs, in PEM. */
  readonly ca?: string;
  /** Client certificate, and those that lead to its CA, in PEM. */
  readonly cert?: string;
}

/** Seconds until credentials expire, below 0 since they have; without those that do not say when. */
export type SecondsUntilExpiry = Readonly<Partial<Record<keyof Expiring, number>>>;

/**
 * Say how long credentials are still good.
 *
 * @param credentials as they are now.
 * @param now in milliseconds since 1970.
 * @returns seconds by the name of the credential; of several certificates that which expires first counts.
 */
export const secondsUntilExpiry = (
  { apiKey = "", ca = "", cert = "" }: Expiring,
  now: number = Date.now(),
): SecondsUntilExpiry => {
  const ends = {
    apiKey: tokenExpiry(apiKey),
    ca: certificateExpiry(ca),
    cert: certificateExpiry(cert),
  };
  return Object.fromEntries(
    Object.entries(ends).flatMap(([name, end]) =>
      end === undefined ? [] : [[name, (end - now) / 1000]],
    ),
  );
};
