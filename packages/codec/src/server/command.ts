import { readFiles } from "@durable-payments/client/credentials";
import { messageOf, visibleJson } from "@durable-payments/client/values";
import { isOnThisMachine } from "@durable-payments/protocol/temporal-connection";
import { once } from "node:events";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { readSettings, type Settings } from "@durable-payments/protocol/settings";
import { readDataConverter } from "../data-converter.ts";
import { startCodecServer } from "./codec-server.ts";
import { type Authenticate, authenticateByFile, CannotServe, CODEC_ROLES } from "./users.ts";

/** The options of `durable-payments codec-server`. */
export const OPTIONS = {
  host: { type: "string", default: "127.0.0.1" },
  port: { type: "string", default: "8081" },
  origin: { type: "string", multiple: true, default: [] },
  anonymous: { type: "string" },
  "behind-tls-proxy": { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} satisfies ParseArgsOptionsConfig;

const help = (name: string): string => `Usage: ${name} [OPTIONS]

Decodes payloads for Temporal's Web UI and command line, which call its path /decode. It uses the keyring or the
dataConverter of the settings (PAYMENTS_SETTINGS, PAYMENTS_KEYRING), and serves the namespace TEMPORAL_NAMESPACE.
For each request it prints one line: user, role, origin, number of payloads and key ids, but never a value.

The setting codecServer.usersFile names a JSON file of users, which is reloaded for each request. It is a list of
objects with name, role and tokenSha256, the SHA-256 of the user's token in hex. With codecServer.tokens, an entry may
have subject or group instead of tokenSha256. The roles are masked (reads all but names and account numbers), reader
(reads everything) and editor (reads and encodes everything).

TLS needs codecServer.certFile and keyFile. Without them, the server accepts requests from this machine only.

Options:
  --host HOST            listens on this address (127.0.0.1)
  --port PORT            listens on this port; 0: a free one (8081)
  --origin URL           accepts requests from the Web UI at this address; repeatable
  --anonymous ROLE       gives everyone on this machine this role: masked, reader or editor
  --behind-tls-proxy     expects a proxy in front of it to terminate TLS
  --help                 shows this text

Exit codes: 0 stopped by a signal, 1 could not start.
`;

const tlsOf = ({ certFile, keyFile }: NonNullable<Settings["codecServer"]>) => {
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new CannotServe("Set both codecServer.certFile and codecServer.keyFile, or neither.");
  }
  if (certFile === undefined || keyFile === undefined) return {};
  const { "codecServer.certFile": cert, "codecServer.keyFile": key } = readFiles({
    "codecServer.certFile": certFile,
    "codecServer.keyFile": keyFile,
  });
  return { tls: { cert, key } };
};

const authentication = async (
  { tokens, usersFile }: NonNullable<Settings["codecServer"]>,
  host: string,
  anonymous: string | undefined,
): Promise<Authenticate> => {
  if ((usersFile === undefined) === (anonymous === undefined)) {
    throw new CannotServe("Set codecServer.usersFile, or pass --anonymous ROLE, but not both.");
  }
  if (usersFile !== undefined) return authenticateByFile(usersFile, tokens);
  const role = CODEC_ROLES.find((known) => known === anonymous);
  if (role === undefined)
    throw new CannotServe(`--anonymous must be one of ${CODEC_ROLES.join(", ")}.`);
  if (!isOnThisMachine({ address: `${host}:0` })) {
    throw new CannotServe(`--anonymous is allowed only on this machine, not on ${host}.`);
  }
  return async () => ({ name: "anonymous", role });
};

const serve = async (args: ReadonlyArray<string>, name: string): Promise<void> => {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  if (values.help) {
    process.stdout.write(help(name));
    return;
  }
  const namespace = process.env["TEMPORAL_NAMESPACE"]?.trim() || "default";
  const { codecServer = {}, ...encoding } = readSettings(process.env);
  const dataConverter = readDataConverter(encoding, namespace);
  if (dataConverter === undefined) {
    throw new CannotServe(
      "Set keyring (PAYMENTS_KEYRING) or dataConverter to your workers' value.",
    );
  }
  const server = await startCodecServer({
    authenticate: await authentication(codecServer, values.host, values.anonymous),
    dataConverter,
    host: values.host,
    isBehindTlsProxy: values["behind-tls-proxy"],
    log: (entry) => void process.stdout.write(`${visibleJson(entry)}\n`),
    namespace,
    origins: values.origin,
    port: Number(values.port),
    ...tlsOf(codecServer),
  });
  process.stdout.write(`${visibleJson({ ready: true, url: server.url })}\n`);
  await Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
  await server.close();
};

/**
 * Serves until SIGTERM or SIGINT; sets the exit code of the process.
 *
 * @param args the words after the name
 * @param name the command as it was called, for its help
 */
export const run = async (args: ReadonlyArray<string>, name: string): Promise<void> => {
  try {
    await serve(args, name);
  } catch (error) {
    process.stderr.write(`codec-server: ${messageOf(error)}\n`);
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    process.exitCode = code.startsWith("ERR_PARSE_ARGS") ? 2 : 1;
  }
};
