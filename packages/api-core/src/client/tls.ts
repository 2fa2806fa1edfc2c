import { createPrivateKey, type KeyObject, type X509Certificate } from "node:crypto";
import * as Redacted from "effect/Redacted";
import { certificatesIn } from "../credentials/expiry.ts";
import { isRecord } from "../values.ts";
import { nearestName } from "./nearest-name.ts";

/** Certificates and keys for the TLS to the service, as texts in PEM. */
export interface TlsOptions {
  /** Certificates of the CAs that are trusted, instead of those that Node trusts; of an https proxy, too. */
  readonly ca?: string;
  /** Certificate of this client, followed by those that lead to its CA. */
  readonly cert?: string;
  /** Private key of `cert`, not encrypted. */
  readonly key?: Redacted.Redacted;
}

/** The same as a caller gives it. */
export interface TlsSettings extends Omit<TlsOptions, "key"> {
  /** Private key of `cert`, not encrypted: PEM. */
  readonly key?: Redacted.Redacted | string;
}

const variables = {
  ca: "PAYMENTS_CA_FILE (tls.ca)",
  cert: "PAYMENTS_CLIENT_CERT_FILE (tls.cert)",
  key: "PAYMENTS_CLIENT_KEY_FILE (tls.key)",
} as const;

const names = Object.keys(variables);

/** The certificates of a text, or what is wrong with it. */
const readCertificates = (text: unknown): ReadonlyArray<X509Certificate> | string => {
  try {
    const certificates = typeof text === "string" ? certificatesIn(text) : [];
    return certificates.length > 0
      ? certificates
      : "must be the text of certificates in PEM, which begins with -----BEGIN CERTIFICATE-----.";
  } catch {
    return "has a certificate that cannot be read.";
  }
};

/** The key of a text, or what is wrong with it; never a part of the text. */
const readKey = (text: unknown): KeyObject | string => {
  if (typeof text !== "string" || !text.includes("PRIVATE KEY-----")) {
    return "must be the text of a private key in PEM, which begins with -----BEGIN PRIVATE KEY-----.";
  }
  if (text.includes("ENCRYPTED")) {
    return "is encrypted: decrypt it first, by openssl pkey -in KEY.pem -out PLAIN.pem.";
  }
  try {
    return createPrivateKey(text);
  } catch {
    return "is a private key that cannot be read.";
  }
};

const unknownNames = (tls: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  Object.keys(tls)
    .filter((name) => !names.includes(name))
    .map((name) => {
      const like = nearestName(name, names);
      return `tls.${name} is not a setting${like === undefined ? " (tls takes ca, cert and key)." : `: is it tls.${like}?`}`;
    });

/**
 * Check the settings of TLS.
 *
 * @param baseUrl the service's address, which is right
 * @returns every fault, by its name; empty where there is none
 */
export const tlsFaults = (tls: unknown, baseUrl: string): ReadonlyArray<string> => {
  if (!isRecord(tls)) return ["tls must be an object of ca, cert and key."];
  if (!baseUrl.startsWith("https:")) {
    return ["tls (PAYMENTS_CA_FILE, PAYMENTS_CLIENT_CERT_FILE) is for https:// only."];
  }
  const faults = [...unknownNames(tls)];
  const { ca, cert } = tls;
  const key = Redacted.isRedacted(tls["key"]) ? Redacted.value(tls["key"]) : tls["key"];
  const note = (name: keyof typeof variables, problem: string) =>
    faults.push(`${variables[name]} ${problem}`);
  if (ca !== undefined) {
    const read = readCertificates(ca);
    if (typeof read === "string") note("ca", read);
  }
  if (cert === undefined && key === undefined) return faults;
  if (cert === undefined) note("cert", "must be given with the key.");
  if (key === undefined) note("key", "must be given with the certificate.");
  const chain = cert === undefined ? "" : readCertificates(cert);
  const privateKey = key === undefined ? "" : readKey(key);
  if (typeof chain === "string" && cert !== undefined) note("cert", chain);
  if (typeof privateKey === "string" && key !== undefined) note("key", privateKey);
  if (typeof chain === "string" || typeof privateKey === "string") return faults;
  const [own] = chain;
  if (own?.checkPrivateKey(privateKey) === false) note("key", "is not the key of the certificate.");
  return faults;
};
