import {
  apiKeyIn,
  type FileContents,
  readFiles,
  rereadFiles,
  secondsUntilExpiry,
  type SecondsUntilExpiry,
} from "@durable-payments/api-core/credentials";
import {
  normalizeTlsConfig,
  type TLSConfig,
} from "@temporalio/common/lib/internal-non-workflow/index.js";

const API_KEY_FILE = "TEMPORAL_API_KEY_FILE";

/** Variables of the SDK's configuration that name a file of TLS. */
export const FILES_OF_TLS = [
  "TEMPORAL_TLS_CLIENT_CERT_PATH",
  "TEMPORAL_TLS_CLIENT_KEY_PATH",
  "TEMPORAL_TLS_SERVER_CA_CERT_PATH",
] as const;

/** What the environment names. */
type NamedFiles = Readonly<
  Partial<Record<typeof API_KEY_FILE | (typeof FILES_OF_TLS)[number], string | undefined>>
>;

/** How Temporal is connected with, as far as it is secret. */
interface ConnectionSecrets {
  readonly apiKey?: string;
  readonly tls?: TLSConfig | boolean | null;
}

const apiKeyOf = (contents: FileContents<typeof API_KEY_FILE>): string =>
  apiKeyIn(API_KEY_FILE, contents[API_KEY_FILE]);

/**
 * Add the API key that the file of `TEMPORAL_API_KEY_FILE` holds; the SDK's own configuration knows no such variable.
 *
 * @param named what the environment names.
 * @param secrets what the SDK's configuration has.
 * @returns the same with the API key, and with TLS, unless that is switched off.
 * @throws Error where there is a key already, or the file has none; without what it holds.
 */
export const withApiKeyFile = <A extends ConnectionSecrets>(
  { [API_KEY_FILE]: file }: NamedFiles,
  secrets: A,
): A => {
  if (!file) return secrets;
  if (secrets.apiKey !== undefined) {
    throw new Error(
      `TEMPORAL_API_KEY (or api_key of the profile) and ${API_KEY_FILE} are both set: set one of them.`,
    );
  }
  return {
    ...secrets,
    apiKey: apiKeyOf(readFiles({ [API_KEY_FILE]: file })),
    // As the SDK has it for a key of its own configuration.
    tls: secrets.tls ?? true,
  };
};

/**
 * Read Temporal's API key again whenever it is used.
 *
 * @param named what the environment names.
 * @param warn gets, once, that the file cannot be used any more: the key that it held is used on.
 * @returns the key as it is now; undefined where no file is named.
 * @throws Error where the file has no key.
 */
export const rereadApiKey = (
  { [API_KEY_FILE]: file }: NamedFiles,
  warn: (message: string) => void,
): (() => string) | undefined => {
  if (!file) return undefined;
  const paths = { [API_KEY_FILE]: file };
  return rereadFiles({ paths, contents: readFiles(paths), parse: apiKeyOf, warn });
};

/**
 * Watch whether the files of Temporal's TLS change. A connection of the SDK keeps the certificates that it was opened
 * with: what has changed counts from the next start on.
 *
 * @param named what the environment names.
 * @returns tells whether they have changed since it was called first.
 */
export const watchTlsFiles = (named: NamedFiles): (() => boolean) => {
  const paths: Record<string, string> = {};
  for (const name of FILES_OF_TLS) {
    const path = named[name];
    if (path) paths[name] = path;
  }
  const parse = (contents: FileContents<string>) => contents;
  const first = readFiles(paths);
  const current = rereadFiles({ paths, contents: first, parse, warn: () => undefined });
  return () => current() !== first;
};

const textOf = (pem: Uint8Array | undefined | null): string =>
  pem ? Buffer.from(pem).toString() : "";

/**
 * Say how long the credentials of a connection to Temporal are still good.
 *
 * @param secrets what it was opened with, and its API key as it is now.
 * @returns seconds by the name of the credential, below 0 since it has expired; without those that do not say when.
 */
export const temporalSecondsUntilExpiry = ({
  apiKey,
  tls,
}: ConnectionSecrets): SecondsUntilExpiry => {
  const { clientCertPair, serverRootCACertificate } = normalizeTlsConfig(tls) ?? {};
  return secondsUntilExpiry({
    apiKey: apiKey ?? "",
    ca: textOf(serverRootCACertificate),
    cert: textOf(clientCertPair?.crt),
  });
};
