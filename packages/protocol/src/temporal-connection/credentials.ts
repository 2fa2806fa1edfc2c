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

/** What the environment sets, of which this reads `TEMPORAL_*` and a few more. */
export type Environment = Readonly<Record<string, string | undefined>>;

const API_KEY_FILE = "TEMPORAL_API_KEY_FILE";

/** Variables of the SDK's configuration that name a file of TLS. */
export const FILES_OF_TLS = [
  "TEMPORAL_TLS_CLIENT_CERT_PATH",
  "TEMPORAL_TLS_CLIENT_KEY_PATH",
  "TEMPORAL_TLS_SERVER_CA_CERT_PATH",
] as const;

/** How Temporal is connected with, as far as it is secret. */
interface ConnectionSecrets {
  readonly apiKey?: string;
  readonly tls?: TLSConfig | boolean | null;
}

const apiKeyOf = (contents: FileContents<typeof API_KEY_FILE>): string =>
  apiKeyIn(API_KEY_FILE, contents[API_KEY_FILE]);

/** Adds the API key of `TEMPORAL_API_KEY_FILE`, which the SDK does not know, and TLS, unless that is switched off. */
export const withApiKeyFile = <A extends ConnectionSecrets>(
  { [API_KEY_FILE]: file }: Environment,
  secrets: A,
): A => {
  if (!file) return secrets;
  if (secrets.apiKey !== undefined) {
    throw new Error(
      `TEMPORAL_API_KEY (or api_key of the profile) and ${API_KEY_FILE} are both set: set one of them.`,
    );
  }
  const apiKey = apiKeyOf(readFiles({ [API_KEY_FILE]: file }));
  return { ...secrets, apiKey, tls: secrets.tls ?? true };
};

/** Reads Temporal's API key again whenever it is used. `warn` gets, once, that the file has none any more: the last one is used on. */
export const rereadApiKey = (
  { [API_KEY_FILE]: file }: Environment,
  warn: (message: string) => void,
): (() => string) | undefined => {
  if (!file) return undefined;
  const paths = { [API_KEY_FILE]: file };
  return rereadFiles({ paths, contents: readFiles(paths), parse: apiKeyOf, warn });
};

const textOf = (pem: Uint8Array | undefined | null): string =>
  pem ? Buffer.from(pem).toString() : "";

/** Returns how long credentials are still good, in seconds by their names, without those that do not say when. */
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
