import { messageOf } from "@durable-payments/api-core/values";
import {
  normalizeGrpcEndpointAddress,
  normalizeTlsConfig,
  type TLSConfig,
} from "@temporalio/common/lib/internal-non-workflow/index.js";
import { accessSync, constants } from "node:fs";
import { createSecureContext, DEFAULT_MIN_VERSION } from "node:tls";
import { DEFAULT_PORT, isOnThisMachine, placeOf } from "./address.ts";
import { FILES_OF_TLS, withApiKeyFile } from "./credentials.ts";

/** What the SDK's configuration was asked to take. */
interface NamedConfiguration {
  readonly TEMPORAL_API_KEY_FILE?: string | undefined;
  readonly TEMPORAL_CONFIG_FILE?: string | undefined;
  readonly TEMPORAL_PROFILE?: string | undefined;
  readonly TEMPORAL_TLS?: string | undefined;
  readonly TEMPORAL_TLS_DISABLE_HOST_VERIFICATION?: string | undefined;
  readonly TEMPORAL_TLS_CLIENT_CERT_PATH?: string | undefined;
  readonly TEMPORAL_TLS_CLIENT_KEY_PATH?: string | undefined;
  readonly TEMPORAL_TLS_SERVER_CA_CERT_PATH?: string | undefined;
  /** `true` where Temporal on another machine may be spoken to in plain text. */
  readonly PAYMENTS_ALLOW_PLAIN_TEXT_TEMPORAL?: string | undefined;
  readonly NODE_TLS_REJECT_UNAUTHORIZED?: string | undefined;
}

const SWITCHES = ["TEMPORAL_TLS", "TEMPORAL_TLS_DISABLE_HOST_VERIFICATION"] as const;

/** What the SDK's configuration says, as far as it is checked here. */
interface Configuration {
  readonly connectionOptions: {
    readonly address?: string;
    readonly apiKey?: string;
    readonly tls?: TLSConfig | boolean | null;
  };
}

const LARGEST_PORT = 65_535;

const isAddress = (address: string): boolean => {
  try {
    const { port } = placeOf(normalizeGrpcEndpointAddress(address, DEFAULT_PORT));
    return port > 0 && port <= LARGEST_PORT;
  } catch {
    return false;
  }
};

/** It is not repeated whole: a URL may hold a password. */
const checkAddress = (address: string): void => {
  if (isAddress(address)) return;
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

const OLD_TLS: ReadonlyArray<string> = ["TLSv1", "TLSv1.1"];

/** Node's own settings may take away what TLS is for. */
const refuseWeakTls = ({ NODE_TLS_REJECT_UNAUTHORIZED: verifies }: NamedConfiguration): void => {
  if (verifies === "0") {
    throw new Error(
      "NODE_TLS_REJECT_UNAUTHORIZED=0 has Node believe any certificate: unset it, and name the CA of Temporal's certificate by TEMPORAL_TLS_SERVER_CA_CERT_PATH.",
    );
  }
  if (OLD_TLS.includes(DEFAULT_MIN_VERSION)) {
    throw new Error(
      `Node is told to speak ${DEFAULT_MIN_VERSION}, which is broken: leave out --tls-min-v1.0 and --tls-min-v1.1 (NODE_OPTIONS).`,
    );
  }
};

/** Inputs of payments, and whoever may start them, are seen by everybody on the way. */
const refusePlainText = (
  { PAYMENTS_ALLOW_PLAIN_TEXT_TEMPORAL: isAllowed }: NamedConfiguration,
  { address = "", apiKey }: Configuration["connectionOptions"],
): void => {
  if (address === "" || isOnThisMachine({ address })) return;
  if (apiKey !== undefined) {
    throw new Error(
      "the API key would be sent to another machine in plain text: leave out TEMPORAL_TLS=false.",
    );
  }
  if (isAllowed === "true") return;
  throw new Error(
    "Temporal on another machine would be spoken to in plain text: set TEMPORAL_TLS=true, or PAYMENTS_ALLOW_PLAIN_TEXT_TEMPORAL=true where the network encrypts.",
  );
};

/**
 * Read Temporal's configuration, and say in words what is wrong with it.
 *
 * @param named what the environment names. A file that is missing is wrong: the SDK takes it for one that is
 *   empty, and then this would be another Temporal.
 * @param load reads it by the SDK.
 * @returns what `load` returns, with the API key of `TEMPORAL_API_KEY_FILE`, where that is named.
 * @throws Error with what is wrong.
 */
export const readTemporalConfiguration = <A extends Configuration>(
  named: NamedConfiguration,
  load: () => A,
): A => {
  const ofSdk = loaded(named, load);
  const configuration = {
    ...ofSdk,
    connectionOptions: withApiKeyFile(named, ofSdk.connectionOptions),
  };
  const { address, tls } = configuration.connectionOptions;
  if (address) checkAddress(address);
  const secured = normalizeTlsConfig(tls);
  if (secured === undefined) refusePlainText(named, configuration.connectionOptions);
  else {
    refuseWeakTls(named);
    checkTls(secured);
  }
  return configuration;
};

/** What it names is not repeated: somebody may have given the key itself. */
const missing = (variable: string): string =>
  `${variable} must be the path of a file: it is missing or cannot be read.`;

const loaded = <A>(named: NamedConfiguration, load: () => A): A => {
  const { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: profile } = named;
  if (file !== undefined && !isReadable(file)) {
    throw new Error(missing("TEMPORAL_CONFIG_FILE"));
  }
  for (const name of SWITCHES) {
    const value = named[name];
    // The SDK takes any other value for a no: what was meant to be encrypted is not.
    if (value !== undefined && value !== "" && !/^(?:1|true|0|false)$/.test(value)) {
      throw new Error(`${name} must be true or false.`);
    }
  }
  for (const name of FILES_OF_TLS) {
    const path = named[name];
    if (path && !isReadable(path)) {
      throw new Error(missing(name));
    }
  }
  try {
    return load();
  } catch (error) {
    throw new Error(whatIsWrong(error, { file, profile }), { cause: error });
  }
};

const whatIsWrong = (
  error: unknown,
  { file, profile }: { readonly file: string | undefined; readonly profile: string | undefined },
): string => {
  // The SDK stumbles over a file without profiles.
  if (error instanceof TypeError) return "The file has no table [profile.default].";
  const message = messageOf(error);
  return profile !== undefined && message.startsWith("Profile")
    ? `TEMPORAL_PROFILE names the profile "${profile}", and ${file ?? "the configuration file"} has none of that name.`
    : message;
};

const isReadable = (file: string): boolean => {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
};
