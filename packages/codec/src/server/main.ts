#!/usr/bin/env node
import { messageOf, visibleJson } from "@durable-payments/api-core/values";
import { isOnThisMachine } from "@durable-payments/protocol/temporal-connection";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { CannotServe } from "../errors.ts";
import { readDataConverter } from "../read-data-converter.ts";
import { startCodecServer } from "./codec-server.ts";
import { type Authenticate, authenticateByFile, type CodecRole } from "./users.ts";

const HELP = `Usage: durable-payments-codec-server [OPTIONS]

Decodes payloads for Temporal's Web UI and command line, which ask it at /decode, by the keys of PAYMENTS_KEYRING or the
module of PAYMENTS_DATA_CONVERTER, for the namespace of TEMPORAL_NAMESPACE. Each request is a line on standard output:
who, in which role, from where, how many payloads, under which keys; never a value.

PAYMENTS_CODEC_USERS_FILE names who may ask, a JSON file that is read again at each request: a list of name, role (masked:
no names and account numbers; reader: all; editor: encodes, too), and tokenSha256, the SHA-256 of a token in hex. With
PAYMENTS_CODEC_JWKS_URL, PAYMENTS_CODEC_ISSUER and PAYMENTS_CODEC_AUDIENCE an entry may have subject or group instead. TLS
by PAYMENTS_CODEC_CERT_FILE and PAYMENTS_CODEC_KEY_FILE; without it only this machine is answered.

Options:
  --host HOST            address that it listens on; default 127.0.0.1
  --port PORT            default 8081; 0 takes one that is free
  --origin URL           address of a Web UI that may ask; once for each
  --anonymous ROLE       role of everybody on this machine: masked, reader or editor
  --behind-tls-proxy     a proxy before it ends TLS
  --help                 shows this text

Exit codes: 0 ended by a signal, 1 it cannot start.
`;

const ROLES: ReadonlyArray<CodecRole> = ["masked", "reader", "editor"];

const variable = (name: string): string | undefined => process.env[name]?.trim() || undefined;

/** The values of variables of which all are set, or none. */
const allOrNone = (names: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  const values = names.flatMap((name) => variable(name) ?? []);
  if (values.length === 0) return undefined;
  if (values.length === names.length) return values;
  throw new CannotServe(`Set all of ${names.join(", ")}, or none.`);
};

const readPem = async (path: string): Promise<string> => {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new CannotServe(`A file of TLS cannot be read: ${messageOf(error)}.`);
  }
};

const authentication = async (
  host: string,
  anonymous: string | undefined,
): Promise<Authenticate> => {
  const file = variable("PAYMENTS_CODEC_USERS_FILE");
  if ((file === undefined) === (anonymous === undefined)) {
    throw new CannotServe(
      "Set PAYMENTS_CODEC_USERS_FILE, or give --anonymous ROLE: one of the two.",
    );
  }
  if (file !== undefined) {
    const [jwksUrl = "", issuer = "", audience = ""] =
      allOrNone(["PAYMENTS_CODEC_JWKS_URL", "PAYMENTS_CODEC_ISSUER", "PAYMENTS_CODEC_AUDIENCE"]) ??
      [];
    return authenticateByFile(file, jwksUrl === "" ? undefined : { jwksUrl, issuer, audience });
  }
  const role = ROLES.find((known) => known === anonymous);
  if (role === undefined) throw new CannotServe(`--anonymous must be one of ${ROLES.join(", ")}.`);
  if (!isOnThisMachine({ address: `${host}:0` })) {
    throw new CannotServe(`--anonymous is for this machine alone, not for ${host}.`);
  }
  return async () => ({ name: "anonymous", role });
};

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      host: { type: "string", default: "127.0.0.1" },
      port: { type: "string", default: "8081" },
      origin: { type: "string", multiple: true, default: [] },
      anonymous: { type: "string" },
      "behind-tls-proxy": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const namespace = variable("TEMPORAL_NAMESPACE") ?? "default";
  const dataConverter = readDataConverter(process.env, namespace);
  if (dataConverter === undefined) {
    throw new CannotServe(
      "Set PAYMENTS_KEYRING or PAYMENTS_DATA_CONVERTER, as your workers have it.",
    );
  }
  const [certFile, keyFile] =
    allOrNone(["PAYMENTS_CODEC_CERT_FILE", "PAYMENTS_CODEC_KEY_FILE"]) ?? [];
  const server = await startCodecServer({
    authenticate: await authentication(values.host, values.anonymous),
    dataConverter,
    host: values.host,
    isBehindTlsProxy: values["behind-tls-proxy"],
    log: (entry) => void process.stdout.write(`${visibleJson(entry)}\n`),
    namespace,
    origins: values.origin,
    port: Number(values.port),
    ...(certFile !== undefined &&
      keyFile !== undefined && {
        tls: { cert: await readPem(certFile), key: await readPem(keyFile) },
      }),
  });
  process.stdout.write(`${visibleJson({ ready: true, url: server.url })}\n`);
  await Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
  await server.close();
};

try {
  await main();
} catch (error) {
  process.stderr.write(`durable-payments-codec-server: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
