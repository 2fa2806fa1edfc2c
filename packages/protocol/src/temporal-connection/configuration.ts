import { messageOf } from "@durable-payments/api-core/values";
import {
  normalizeGrpcEndpointAddress,
  normalizeTlsConfig,
  type TLSConfig,
} from "@temporalio/common/lib/internal-non-workflow/index.js";
import { accessSync, constants } from "node:fs";
import { createSecureContext, DEFAULT_MIN_VERSION } from "node:tls";
import { type Environment, FILES_OF_TLS, withApiKeyFile } from "./credentials.ts";

/** Temporal's port, where an address names none. */
const DEFAULT_PORT = 7233;

const LARGEST_PORT = 65_535;

/** Reads host and port of an address; an IPv6 address may stand in brackets. */
export const placeOf = (address: string): { readonly host: string; readonly port: number } => {
  const parts = /^\[?(.+?)\]?(?::(\d+))?$/.exec(address);
  return { host: parts?.[1] ?? address, port: Number(parts?.[2] ?? DEFAULT_PORT) };
};

/** Checks whether an address is one of this machine; a name that is not known to be is another's. */
export const isOnThisMachine = ({ address }: { readonly address: string }): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/.test(placeOf(address).host);

const CONFIG_FILE = "TEMPORAL_CONFIG_FILE";

/** What the SDK's configuration says, as far as it is checked here. */
interface Configuration {
  readonly connectionOptions: {
    readonly address?: string;
    readonly apiKey?: string;
    readonly tls?: TLSConfig | boolean | null;
  };
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
