import {
  apiKeyIn,
  readFiles,
  rereadFiles,
  secondsUntilExpiry,
  type SecondsUntilExpiry,
} from "@durable-payments/client/credentials";
import {
  normalizeTlsConfig,
  type TLSConfig,
  normalizeGrpcEndpointAddress,
} from "@temporalio/common/lib/internal-non-workflow/index.js";
import { isLoopback, messageOf } from "@durable-payments/client/values";
import { once } from "node:events";
import { createSecureContext, DEFAULT_MIN_VERSION, connect as connectTls } from "node:tls";
import { connect, isIP, type Socket } from "node:net";

/** Environment variables; only `TEMPORAL_*` and a few others are read. */
type Environment = Readonly<Record<string, string | undefined>>;

const API_KEY_FILE = "TEMPORAL_API_KEY_FILE";

/** Variables of the SDK's configuration that name a file of TLS. */
const FILES_OF_TLS = [
  "TEMPORAL_TLS_CLIENT_CERT_PATH",
  "TEMPORAL_TLS_CLIENT_KEY_PATH",
  "TEMPORAL_TLS_SERVER_CA_CERT_PATH",
] as const;

/** The secret part of a connection to Temporal. */
interface ConnectionSecrets {
  readonly apiKey?: string;
  readonly tls?: TLSConfig | boolean | null;
}

/**
 * Reads Temporal's API key again whenever it is used. `warn` is called once if the file lost its key: the last key
 * stays in use.
 */
export const rereadApiKey = (
  { [API_KEY_FILE]: file }: Environment,
  warn: (message: string) => void,
): (() => string) | undefined => {
  if (!file) return undefined;
  return rereadFiles({
    paths: { [API_KEY_FILE]: file },
    parse: (contents) => apiKeyIn(API_KEY_FILE, contents[API_KEY_FILE]),
    warn,
  });
};

/** Adds the API key of `TEMPORAL_API_KEY_FILE`, which the SDK does not know, and TLS, unless that is switched off. */
const withApiKeyFile = <A extends ConnectionSecrets>(environment: Environment, secrets: A): A => {
  if (!environment[API_KEY_FILE]) return secrets;
  if (secrets.apiKey !== undefined) {
    throw new Error(
      `TEMPORAL_API_KEY (or api_key of the profile) and ${API_KEY_FILE} are both set: set only one.`,
    );
  }
  const apiKey = rereadApiKey(environment, () => undefined)?.();
  return { ...secrets, apiKey, tls: secrets.tls ?? true };
};

const textOf = (pem: Uint8Array | undefined | null): string =>
  pem ? Buffer.from(pem).toString() : "";

/** Returns the remaining life of credentials, in seconds by name, without those that do not expire visibly. */
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

/** Temporal's port, if an address names none. */
const DEFAULT_PORT = 7233;

const LARGEST_PORT = 65_535;

/** Reads host and port of an address; an IPv6 address may be in brackets. */
const placeOf = (address: string): { readonly host: string; readonly port: number } => {
  const parts = /^\[?(.+?)\]?(?::(\d+))?$/.exec(address);
  return { host: parts?.[1] ?? address, port: Number(parts?.[2] ?? DEFAULT_PORT) };
};

/** Returns whether an address belongs to this machine; an unknown name does not. */
export const isOnThisMachine = ({ address }: { readonly address: string }): boolean =>
  isLoopback(placeOf(address).host);

const CONFIG_FILE = "TEMPORAL_CONFIG_FILE";

/** The checked part of the SDK's configuration. */
interface Configuration {
  readonly connectionOptions: ConnectionSecrets & { readonly address?: string };
}

/** It is not repeated whole: a URL may hold a password. */
const checkAddress = (address: string): void => {
  try {
    const { port } = placeOf(normalizeGrpcEndpointAddress(address, DEFAULT_PORT));
    if (port > 0 && port <= LARGEST_PORT) return;
  } catch {
    // The message names the fault.
  }
  const host = URL.parse(address)?.host || "localhost:7233";
  throw new Error(
    `TEMPORAL_ADDRESS must be a host and a port, without a scheme or path, such as ${host}.`,
  );
};

/** The certificates of a connection, as Node takes them. */
const certificatesOf = ({ clientCertPair: pair, serverRootCACertificate: ca }: TLSConfig) => ({
  ...(ca && { ca: Buffer.from(ca) }),
  ...(pair && { cert: Buffer.from(pair.crt), key: Buffer.from(pair.key) }),
});

const checkTls = (tls: TLSConfig): void => {
  try {
    createSecureContext(certificatesOf(tls));
  } catch (error) {
    throw new Error(
      `a file of TEMPORAL_TLS_* holds no certificate or key in PEM, or the two do not belong together (${messageOf(error)}).`,
      { cause: error },
    );
  }
};

/** Node's own settings can disable the protection of TLS. */
const refuseWeakTls = (environment: Environment): void => {
  if (environment["NODE_TLS_REJECT_UNAUTHORIZED"] === "0") {
    throw new Error(
      "NODE_TLS_REJECT_UNAUTHORIZED=0 makes Node accept any certificate: unset it, and set TEMPORAL_TLS_SERVER_CA_CERT_PATH to the CA of Temporal's certificate.",
    );
  }
  if (/^TLSv1(?:\.1)?$/.test(DEFAULT_MIN_VERSION)) {
    throw new Error(
      `Node is configured for ${DEFAULT_MIN_VERSION}, which is insecure: remove --tls-min-v1.0 and --tls-min-v1.1 (NODE_OPTIONS).`,
    );
  }
};

/** Without TLS, everybody on the way sees the inputs of payments, and can start payments. */
const refusePlainText = (
  { address = "", apiKey }: Configuration["connectionOptions"],
  isAllowed: boolean,
): void => {
  if (address === "" || isOnThisMachine({ address })) return;
  if (apiKey !== undefined) {
    throw new Error(
      "the API key would be sent to another machine in plain text: remove TEMPORAL_TLS=false.",
    );
  }
  if (isAllowed) return;
  throw new Error(
    "the connection to Temporal on another machine would be in plain text: set TEMPORAL_TLS=true, or PAYMENTS_ALLOW_PLAIN_TEXT_TEMPORAL=true if the network encrypts its traffic.",
  );
};

/** The SDK treats a missing file as empty. */
const checkNamed = (environment: Environment): void => {
  const named = [CONFIG_FILE, ...FILES_OF_TLS].map((name) => [name, environment[name]] as const);
  // A blank variable of TLS counts as unset.
  const given = named.filter(([name, path]) => path || (path === "" && name === CONFIG_FILE));
  readFiles(Object.fromEntries(given) as Readonly<Record<string, string>>);
};

/** Reads Temporal's configuration, with the API key of `TEMPORAL_API_KEY_FILE`, and reports faults in words. */
export const readTemporalConfiguration = <A extends Configuration>(
  environment: Environment,
  load: () => A,
  { allowPlainTextTemporal = false }: { readonly allowPlainTextTemporal?: boolean } = {},
): A => {
  checkNamed(environment);
  let ofSdk: A;
  try {
    ofSdk = load();
  } catch (error) {
    // The SDK stumbles over a file without profiles.
    const isWithout = error instanceof TypeError;
    const why = isWithout ? "The file has no table [profile.default]." : messageOf(error);
    throw new Error(why, { cause: error });
  }
  const connectionOptions = withApiKeyFile(environment, ofSdk.connectionOptions);
  const { address, tls } = connectionOptions;
  if (address) checkAddress(address);
  const secured = normalizeTlsConfig(tls);
  if (secured === undefined) refusePlainText(connectionOptions, allowPlainTextTemporal);
  else {
    refuseWeakTls(environment);
    checkTls(secured);
  }
  return { ...ofSdk, connectionOptions };
};

/** Address of Temporal, and TLS. */
interface TemporalEndpoint {
  readonly address: string;
  /** As the SDK's configuration has it: false or undefined for plain text. */
  readonly tls: TLSConfig | boolean | null | undefined;
}

/** Longest time of a connection; a listening server accepts at once. */
const CONNECT_WITHIN_MS = 2_000;

const NOTHING_ANSWERS = "nothing responds there";

/** The reason if no server runs. */
export const NOTHING_LISTENS = "nothing listens there (connection refused)";

/** The reason if a connection can be made, but Temporal does not respond. */
export const NOT_TEMPORAL =
  "the server there does not answer, or not as Temporal does: it may hang. Check the server, the port (7233 by default), TEMPORAL_TLS (does the server use TLS?) and TEMPORAL_TLS_CLIENT_CERT_PATH (does it require a client certificate?)";

const NO_CONNECTION: Readonly<Record<string, string>> = {
  ECONNREFUSED: NOTHING_LISTENS,
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the host name cannot be looked up",
  ETIMEDOUT: NOTHING_ANSWERS,
  ABORT_ERR: NOTHING_ANSWERS,
};

const open = ({ address, tls }: TemporalEndpoint): Socket => {
  const { host, port } = placeOf(address);
  if (!tls) return connect({ host, port });
  const given: TLSConfig = tls === true ? {} : tls;
  // An IP address is not a server name.
  const servername = given.serverNameOverride ?? (isIP(host) === 0 ? host : undefined);
  return connectTls({
    host,
    port,
    ALPNProtocols: ["h2"],
    ...(servername !== undefined && { servername }),
    ...certificatesOf(given),
  });
};

/** Connects to Temporal and returns why that fails; undefined if it succeeds. */
export const whyUnreachable = async (endpoint: TemporalEndpoint): Promise<string | undefined> => {
  const socket = open(endpoint);
  const signal = AbortSignal.timeout(CONNECT_WITHIN_MS);
  try {
    await once(socket, endpoint.tls ? "secureConnect" : "connect", { signal });
    return undefined;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (NO_CONNECTION[code] !== undefined || !endpoint.tls)
      return NO_CONNECTION[code] ?? messageOf(error);
    return `the TLS handshake failed (${messageOf(error)}). Check TEMPORAL_TLS_SERVER_CA_CERT_PATH, TEMPORAL_TLS_SERVER_NAME, and that the server uses TLS (TEMPORAL_TLS)`;
  } finally {
    socket.destroy();
  }
};
