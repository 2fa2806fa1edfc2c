/*
 * The credentials of a client: API key and certificates, from settings or files.
 *
 * A key is replaced while the program runs for months, so files are read again on use. That is not obvious, because a
 * file may be seen half written, or a certificate before its key: contents that cannot be used leave the earlier ones in
 * use, and only a second failure is reported. A message never repeats a file's contents, nor a path, which may be the
 * secret.
 */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContext } from "node:tls";
import * as Redacted from "effect/Redacted";
import { isRecord, messageOf } from "./values.ts";

/** Paths of files, or their contents, by the names of the settings that name them. */
export type FileContents<Name extends string> = Readonly<Record<Name, string>>;

const REREAD_MS = 1000;

/** A file may be seen half written, or a certificate before its key: only a second failure is reported. */
const REPORTED_AT = 2;

/**
 * Reads files that settings name.
 *
 * @param paths by the names of the settings
 * @throws Error that names the setting, and not the path: somebody may have given the secret itself
 */
export const readFiles = <Name extends string>(paths: FileContents<Name>): FileContents<Name> =>
  Object.fromEntries(
    Object.entries<string>(paths).map(([name, path]) => {
      try {
        return [name, readFileSync(path, "utf8")];
      } catch {
        throw new Error(`${name} must be the path of a file that exists and can be read.`);
      }
    }),
    // One entry for each of the names.
  ) as FileContents<Name>;

/**
 * Uses what files hold, and reads them again on use, at most once a second: a file is replaced, or a Kubernetes
 * secret is swapped, without a restart. Contents that cannot be read or used leave the earlier ones in use.
 *
 * @param options `parse` makes what is used from the contents, and repeats nothing of them in an error; `warn` gets,
 *   once for each outage, why the present contents are not used
 * @returns what was made of the files, the same value as long as they do not change, by a clock in milliseconds
 * @throws Error if the files cannot be read or used at first
 */
export const rereadFiles = <Name extends string, A>({
  parse,
  paths,
  warn,
}: {
  readonly paths: FileContents<Name>;
  readonly parse: (contents: FileContents<Name>) => A;
  readonly warn: (message: string) => void;
}): ((now?: number) => A) => {
  let used = readFiles(paths);
  let value = parse(used);
  let readAt = Date.now();
  let faults = 0;
  const reread = (): void => {
    const found = readFiles(paths);
    if (Object.entries<string>(found).every(([name, text]) => text === used[name as Name])) return;
    value = parse(found);
    used = found;
  };
  return (now = Date.now()) => {
    // A clock that was set back must not keep an old key.
    if (Math.abs(now - readAt) < REREAD_MS) return value;
    readAt = now;
    try {
      reread();
      faults = 0;
    } catch (error) {
      faults += 1;
      if (faults === REPORTED_AT) warn(`${messageOf(error)} The earlier contents remain in use.`);
    }
    return value;
  };
};

/** Anything else cannot be part of a header. */
const VISIBLE = /^[\x21-\x7e]+$/;

/**
 * Reads the API key that a file holds; a line break at its end is not part of it.
 *
 * @param name of the setting that names the file
 * @throws Error that names the setting if the file holds anything else
 */
export const apiKeyIn = (name: string, content: string): string => {
  const key = content.replace(/\r?\n$/, "");
  if (VISIBLE.test(key)) return key;
  throw new Error(`${name} must name a file with an API key and nothing else.`);
};

const CERTIFICATE = /-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs;

/** When the first of some certificates in PEM expires; undefined if there is none, or one cannot be read. */
const certificateExpiry = (pem: string): number | undefined => {
  try {
    const ends = (pem.match(CERTIFICATE) ?? []).map((certificate) =>
      Date.parse(new X509Certificate(certificate).validTo),
    );
    return ends.length === 0 ? undefined : Math.min(...ends);
  } catch {
    return undefined;
  }
};

/** When an API key that is a JSON Web Token expires; its signature is not checked. */
const tokenExpiry = (key: string): number | undefined => {
  const [, payload = ""] = key.split(".");
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString());
    const expiry = isRecord(claims) ? claims["exp"] : undefined;
    return typeof expiry === "number" ? expiry * 1000 : undefined;
  } catch {
    return undefined;
  }
};

/** Credentials that may say when they expire. */
export interface Expiring {
  /** API key, possibly a JSON Web Token. */
  readonly apiKey?: string | undefined;
  /** Certificates of trusted CAs, in PEM. */
  readonly ca?: string | undefined;
  /** Client certificate, and those that lead to its CA, in PEM. */
  readonly cert?: string | undefined;
}

/** Seconds until credentials expire, negative once they have; without those that do not say when. */
export type SecondsUntilExpiry = Readonly<Partial<Record<keyof Expiring, number>>>;

/**
 * Returns how long credentials are still good.
 *
 * @param credentials as they are now
 * @param now in milliseconds since 1970
 * @returns seconds by the name of the credential; of several certificates, of the one that expires first
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

/** The oldest version of TLS that is spoken, whatever Node's settings say. */
export const OLDEST_TLS = "TLSv1.2";

/** The settings that name files of TLS, as messages name them. */
const TLS_FILES = {
  caFile: "PAYMENTS_CA_FILE (caFile)",
  clientCertFile: "PAYMENTS_CLIENT_CERT_FILE (clientCertFile)",
  clientKeyFile: "PAYMENTS_CLIENT_KEY_FILE (clientKeyFile)",
} as const;

const API_KEY_FILE = "PAYMENTS_API_KEY_FILE (apiKeyFile)";

/** The settings of a client that are credentials. */
export interface CredentialSettings {
  readonly apiKey?: Redacted.Redacted | undefined;
  readonly apiKeyFile?: string | undefined;
  readonly caFile?: string | undefined;
  readonly clientCertFile?: string | undefined;
  readonly clientKeyFile?: string | undefined;
}

/** Certificates and keys, ready to be used; the texts say when they expire. */
export interface Tls {
  readonly secureContext: SecureContext;
  readonly ca: string | undefined;
  readonly cert: string | undefined;
}

/** The credentials of a client as they are now, by its clock; each value stays the same until a file changes. */
export interface Credentials {
  /** The API key. */
  readonly apiKey: (now?: number) => Redacted.Redacted;
  /** The certificates; undefined if no setting names any. */
  readonly tls: (now?: number) => Tls | undefined;
}

const tlsOf = (texts: Readonly<Record<string, string>>): Tls => {
  const [ca, cert, key] = Object.values(TLS_FILES).map((name) => texts[name]);
  // Node takes a text without certificates for an empty list of CAs.
  if (ca !== undefined && certificateExpiry(ca) === undefined) {
    throw new Error(`${TLS_FILES.caFile} must name a file of certificates in PEM.`);
  }
  try {
    const given = Object.fromEntries(
      Object.entries({ ca, cert, key }).filter(([, text]) => text !== undefined),
    );
    return { secureContext: createSecureContext({ minVersion: OLDEST_TLS, ...given }), ca, cert };
  } catch (error) {
    // OpenSSL's messages repeat nothing of a text.
    throw new Error(
      `${Object.keys(texts).join(", ")} must name matching PEM files, with an unencrypted key: ${messageOf(error)}.`,
      { cause: error },
    );
  }
};

/**
 * Opens the credentials of a client.
 *
 * @param warn gets why the present contents of a file are not used
 * @throws Error that names the setting if a file cannot be read or used at first; nothing of it is repeated
 */
export const openCredentials = (
  settings: CredentialSettings,
  warn: (message: string) => void,
): Credentials => {
  const { apiKey = Redacted.make(""), apiKeyFile } = settings;
  const tlsPaths = Object.fromEntries(
    // The object's own keys.
    (Object.keys(TLS_FILES) as Array<keyof typeof TLS_FILES>).flatMap((name) => {
      const path = settings[name];
      return path === undefined ? [] : [[TLS_FILES[name], path]];
    }),
  );
  return {
    apiKey:
      apiKeyFile === undefined
        ? () => apiKey
        : rereadFiles({
            paths: { [API_KEY_FILE]: apiKeyFile },
            parse: (texts) => Redacted.make(apiKeyIn(API_KEY_FILE, texts[API_KEY_FILE] ?? "")),
            warn,
          }),
    tls:
      Object.keys(tlsPaths).length === 0
        ? () => undefined
        : rereadFiles({ paths: tlsPaths, parse: tlsOf, warn }),
  };
};

/** Checked settings of a client, which hold its open credentials. */
interface Opened {
  readonly credentials: Credentials;
}

/**
 * Returns the API key of a client as it is now: of a file, the one that the file holds.
 *
 * @param options of the client
 * @returns the same value as long as the key is the same
 */
export const currentApiKey = ({ credentials }: Opened): Redacted.Redacted => credentials.apiKey();

/**
 * Returns how long the credentials of a client are still good, as they are now.
 *
 * @param options of the client
 * @returns seconds by the name of the credential, negative once it has expired; without those that do not say when
 * @example
 * const { cert } = await Effect.runPromise(
 *   PaymentsClient.useSync(({ options }) => clientSecondsUntilExpiry(options)).pipe(
 *     Effect.provide(PaymentsClient.layerConfig),
 *   ),
 * );
 */
export const clientSecondsUntilExpiry = ({ credentials }: Opened): SecondsUntilExpiry => {
  const { ca, cert } = credentials.tls() ?? {};
  return secondsUntilExpiry({ apiKey: Redacted.value(credentials.apiKey()), ca, cert });
};
