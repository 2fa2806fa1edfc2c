import { visibleJson } from "@durable-payments/api-core/values";
import {
  type Authenticate,
  authenticateByFile,
  type CodecRole,
  startCodecServer,
  type TokenIssuer,
} from "@durable-payments/operations/codec-server";
import { temporalSettings } from "@durable-payments/operations/connection";
import { isOnThisMachine } from "@durable-payments/protocol/temporal-connection";
import { readFile } from "node:fs/promises";
import { badUsage } from "../exit-codes.ts";
import type { Output } from "../output/output.ts";

/** What the command line says of the codec server. */
export interface CodecFlags {
  readonly host: string;
  readonly port: number;
  readonly origins: ReadonlyArray<string>;
  /** The role of everybody, where nobody has to sign in. */
  readonly anonymous: CodecRole | undefined;
  readonly isBehindTlsProxy: boolean;
}

const USERS = "PAYMENTS_CODEC_USERS_FILE";
const CERT = "PAYMENTS_CODEC_CERT_FILE";
const KEY = "PAYMENTS_CODEC_KEY_FILE";

const variable = (name: string): string | undefined => process.env[name]?.trim() || undefined;

/** Those of a set that are set, all or none of them. */
const allOrNone = <Name extends string>(
  names: Readonly<Record<Name, string>>,
): Record<Name, string> | undefined => {
  const entries = Object.entries<string>(names).map(
    ([key, name]) => [key, variable(name)] as const,
  );
  if (entries.every(([, value]) => value === undefined)) return undefined;
  if (entries.some(([, value]) => value === undefined)) {
    throw badUsage(`Set all of ${Object.values(names).join(", ")}, or none.`);
  }
  // Every name has its value.
  return Object.fromEntries(entries) as Record<Name, string>;
};

const readPem = async (name: string, path: string): Promise<string> => {
  try {
    return await readFile(path, "utf8");
  } catch {
    throw badUsage(`${name} must be the path of a file: it is missing or cannot be read.`);
  }
};

const readTls = async () => {
  const files = allOrNone({ cert: CERT, key: KEY });
  return files && { cert: await readPem(CERT, files.cert), key: await readPem(KEY, files.key) };
};

const issuerOfEnvironment = (): TokenIssuer | undefined =>
  allOrNone({
    audience: "PAYMENTS_CODEC_AUDIENCE",
    issuer: "PAYMENTS_CODEC_ISSUER",
    jwksUrl: "PAYMENTS_CODEC_JWKS_URL",
  });

const authentication = async ({
  anonymous,
  host,
  port,
}: Pick<CodecFlags, "anonymous" | "host" | "port">): Promise<Authenticate> => {
  const file = variable(USERS);
  if (anonymous === undefined && file !== undefined) {
    return authenticateByFile(file, issuerOfEnvironment());
  }
  if (anonymous === undefined) {
    throw badUsage(
      `Set ${USERS} to who may ask, or give everybody on this machine a role by --anonymous.`,
    );
  }
  if (file !== undefined) throw badUsage(`Give ${USERS} or --anonymous, not both.`);
  if (!isOnThisMachine({ address: `${host}:${port}` })) {
    throw badUsage(`--anonymous is for this machine alone, not for ${host}: set ${USERS}.`);
  }
  return async () => ({ name: "anonymous", role: anonymous });
};

/**
 * Serve until the process is interrupted.
 *
 * @throws BadUsage and Refused where the settings are wrong
 */
export const serveCodec = async (output: Output, flags: CodecFlags): Promise<void> => {
  const { dataConverter, namespace } = temporalSettings(process.env);
  if (dataConverter === undefined) {
    throw badUsage("Set PAYMENTS_KEYRING, or PAYMENTS_DATA_CONVERTER, as your workers have it.");
  }
  const authenticate = await authentication(flags);
  const tls = await readTls();
  const { host, isBehindTlsProxy, origins, port } = flags;
  const server = await startCodecServer({
    authenticate,
    dataConverter,
    host,
    isBehindTlsProxy,
    log: (entry) => void output.write(`${visibleJson(entry)}\n`),
    namespace,
    origins,
    port,
    ...(tls && { tls }),
  });
  if (output.json) output.write(`${visibleJson({ ready: true, url: server.url })}\n`);
  else output.say(`Codec server of the namespace ${namespace}: ${server.url}`);
  await new Promise<void>((resolve) => {
    output.onInterrupt = resolve;
  });
  await server.close();
};
