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
  normalizeGrpcEndpointAddress,
} from "@temporalio/common/lib/internal-non-workflow/index.js";
import { messageOf } from "@durable-payments/api-core/values";
import { accessSync, constants } from "node:fs";
import { createSecureContext, DEFAULT_MIN_VERSION, connect as connectTls } from "node:tls";
import { connect, isIP, type Socket } from "node:net";

/** What the environment sets, of which this reads `TEMPORAL_*` and a few more. */
type Environment = Readonly<Record<string, string | undefined>>;

const API_KEY_FILE = "TEMPORAL_API_KEY_FILE";

/** Variables of the SDK's configuration that name a file of TLS. */
const FILES_OF_TLS = [
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
const withApiKeyFile = <A extends ConnectionSecrets>(
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

/** Temporal's port, where an address names none. */
const DEFAULT_PORT = 7233;

const LARGEST_PORT = 65_535;

/** Reads host and port of an address; an IPv6 address may stand in brackets. */
const placeOf = (address: string): { readonly host: string; readonly port: number } => {
  const parts = /^\[?(.+?)\]?(?::(\d+))?$/.exec(address);
  return { host: parts?.[1] ?? address, port: Number(parts?.[2] ?? DEFAULT_PORT) };
};

/** Checks whether an address is one of this machine; a name that is not known to be is another's. */
export const isOnThisMachine = ({ address }: { readonly address: string }): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/.test(placeOf(address).host);

const CONFIG_FILE = "TEMPORAL_CONFIG_FILE";

/** What the SDK's configuration says, as far as it is checked here. */
interface Configuration {
  readonly connectionOptions: ConnectionSecrets & { readonly address?: string };
}

/** It is not repeated whole: a URL may hold a password. */
const checkAddress = (address: string): void => {
  try {
    const { port } = placeOf(normalizeGrpcEndpointAddress(address, DEFAULT_PORT));
    if (port > 0 && port <= LARGEST_PORT) return;
  } catch {
    // The message says what is wrong with it.
  }
  const host = URL.parse(address)?.host || "localhost:7233";
  throw new Error(
    `TEMPORAL_ADDRESS must be a host and a port without a scheme and a path, such as ${host}.`,
  );
};

const checkTls = (tls: TLSConfig): void => {
  const { clientCertPair: pair, serverRootCACertificate: ca } = tls;
  try {
    createSecureContext({
      ...(ca && { ca: Buffer.from(ca) }),
      ...(pair && { cert: Buffer.from(pair.crt), key: Buffer.from(pair.key) }),
    });
  } catch (error) {
    throw new Error(
      `a file of TEMPORAL_TLS_* holds no certificate or key in PEM, or the two do not belong together (${messageOf(error)}).`,
      { cause: error },
    );
  }
};

/** Node's own settings may take away what TLS is for. */
const refuseWeakTls = (environment: Environment): void => {
  if (environment["NODE_TLS_REJECT_UNAUTHORIZED"] === "0") {
    throw new Error(
      "NODE_TLS_REJECT_UNAUTHORIZED=0 has Node believe any certificate: unset it, and name the CA of Temporal's certificate by TEMPORAL_TLS_SERVER_CA_CERT_PATH.",
    );
  }
  if (/^TLSv1(?:\.1)?$/.test(DEFAULT_MIN_VERSION)) {
    throw new Error(
      `Node is told to speak ${DEFAULT_MIN_VERSION}, which is broken: leave out --tls-min-v1.0 and --tls-min-v1.1 (NODE_OPTIONS).`,
    );
  }
};

/** Inputs of payments, and whoever may start them, are seen by everybody on the way. */
const refusePlainText = (
  environment: Environment,
  { address = "", apiKey }: Configuration["connectionOptions"],
): void => {
  if (address === "" || isOnThisMachine({ address })) return;
  if (apiKey !== undefined) {
    throw new Error(
      "the API key would be sent to another machine in plain text: leave out TEMPORAL_TLS=false.",
    );
  }
  if (environment["PAYMENTS_ALLOW_PLAIN_TEXT_TEMPORAL"] === "true") return;
  throw new Error(
    "Temporal on another machine would be spoken to in plain text: set TEMPORAL_TLS=true, or PAYMENTS_ALLOW_PLAIN_TEXT_TEMPORAL=true where the network encrypts.",
  );
};

/** The SDK takes a file that is missing for an empty one. */
const checkNamed = (environment: Environment): void => {
  for (const name of [CONFIG_FILE, ...FILES_OF_TLS]) {
    const path = environment[name] || (name === CONFIG_FILE ? environment[name] : undefined);
    try {
      if (path !== undefined) accessSync(path, constants.R_OK);
    } catch {
      // What it names is not repeated: somebody may have given the key itself.
      throw new Error(`${name} must be the path of a file: it is missing or cannot be read.`);
    }
  }
};

/** Reads Temporal's configuration, with the API key of `TEMPORAL_API_KEY_FILE`, and says in words what is wrong with it. */
export const readTemporalConfiguration = <A extends Configuration>(
  environment: Environment,
  load: () => A,
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
  if (secured === undefined) refusePlainText(environment, connectionOptions);
  else {
    refuseWeakTls(environment);
    checkTls(secured);
  }
  return { ...ofSdk, connectionOptions };
};

/** Where Temporal is to be found, and how it is spoken with. */
interface TemporalEndpoint {
  readonly address: string;
  /** As the SDK's configuration has it: false or undefined for plain text. */
  readonly tls: TLSConfig | boolean | null | undefined;
}

/** The longest time that a connection takes; what listens there accepts it at once. */
const CONNECT_WITHIN_MS = 1_000;

const NOTHING_ANSWERS = "nothing answers there";

/** Why, where no server runs. */
export const NOTHING_LISTENS = "nothing listens there (connection refused)";

/** Why, where a connection can be made, and Temporal does not answer on it. */
export const NOT_TEMPORAL =
  "what listens there does not answer as Temporal does. Check the port (7233 by default), TEMPORAL_TLS (is TLS spoken there?) and TEMPORAL_TLS_CLIENT_CERT_PATH";

const NO_CONNECTION: Readonly<Record<string, string>> = {
  ECONNREFUSED: NOTHING_LISTENS,
  ENOTFOUND: "the name of the host is not known",
  EAI_AGAIN: "the name of the host cannot be looked up",
  ETIMEDOUT: NOTHING_ANSWERS,
};

const open = ({ address, tls }: TemporalEndpoint): Socket => {
  const { host, port } = placeOf(address);
  if (!tls) return connect({ host, port });
  const { clientCertPair, serverNameOverride, serverRootCACertificate } = tls === true ? {} : tls;
  // An address is not a name that a server could be asked for.
  const servername = serverNameOverride ?? (isIP(host) === 0 ? host : undefined);
  return connectTls({
    host,
    port,
    ALPNProtocols: ["h2"],
    ...(servername !== undefined && { servername }),
    ...(serverRootCACertificate && { ca: Buffer.from(serverRootCACertificate) }),
    ...(clientCertPair && {
      cert: Buffer.from(clientCertPair.crt),
      key: Buffer.from(clientCertPair.key),
    }),
  });
};

/** Finds out why no connection to Temporal can be made, by making one; undefined where it can be made. */
export const whyUnreachable = (endpoint: TemporalEndpoint): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = open(endpoint);
    const end = (why?: string) => {
      socket.destroy();
      resolve(why);
    };
    socket.setTimeout(CONNECT_WITHIN_MS, () => end(NOTHING_ANSWERS));
    socket.once(endpoint.tls ? "secureConnect" : "connect", () => end());
    socket.once("error", ({ code = "", message }: NodeJS.ErrnoException) =>
      end(
        NO_CONNECTION[code] ??
          (endpoint.tls
            ? `the TLS handshake failed (${message}). Check TEMPORAL_TLS_SERVER_CA_CERT_PATH, TEMPORAL_TLS_SERVER_NAME, and that TLS is spoken there (TEMPORAL_TLS)`
            : message),
      ),
    );
  });
