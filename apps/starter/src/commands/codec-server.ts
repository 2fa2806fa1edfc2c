import { Command, Flag } from "effect/cli";
import * as Option from "effect/Option";
import { EXIT_CODES } from "../exit-codes.ts";
import { json } from "./flags.ts";
import { runCommand } from "./run-command.ts";

const DEFAULT_PORT = 8081;

const parameters = {
  host: Flag.String("host").pipe(
    Flag.withDescription("Address that it listens on; default 127.0.0.1"),
    Flag.withDefault("127.0.0.1"),
  ),
  port: Flag.Int("port").pipe(
    Flag.withDescription(`Port; default ${DEFAULT_PORT}, 0 takes one that is free`),
    Flag.withDefault(DEFAULT_PORT),
  ),
  origins: Flag.String("origin").pipe(
    Flag.withMetavar("URL"),
    Flag.withDescription("Address of a Web UI that may ask; once for each"),
    Flag.atLeast(0),
  ),
  anonymous: Flag.Literals("anonymous", ["masked", "reader", "editor"]).pipe(
    Flag.withDescription("Role of everybody here"),
    Flag.optional,
  ),
  isBehindTlsProxy: Flag.Boolean("behind-tls-proxy").pipe(
    Flag.withDescription("A proxy before it ends TLS"),
    Flag.withDefault(false),
  ),
  json,
};

/** `starter codec-server`: decodes payloads for Temporal's Web UI. */
export const codecServer = Command.make("codec-server", parameters, ({ anonymous, ...given }) =>
  runCommand(given.json, async (output) => {
    const { serveCodec } = await import("./serve-codec.ts");
    await serveCodec(output, { ...given, anonymous: Option.getOrUndefined(anonymous) });
    return EXIT_CODES.done;
  }),
).pipe(
  Command.withShortDescription("Decode payloads for the Web UI"),
  Command.withDescription(
    `Decode payloads for Temporal's Web UI and command line, which ask it at
  /decode, by the keys of PAYMENTS_KEYRING or the module of
  PAYMENTS_DATA_CONVERTER.
  Each request is a line on standard output: who, in which role, from where, how
  many payloads, under which keys; never a value.

  PAYMENTS_CODEC_USERS_FILE names who may ask, a JSON file that is read again at
  each request: a list of name, role (masked: no names and account numbers;
  reader: all; editor: encodes, too), and tokenSha256, the SHA-256 of a token in
  hex. With PAYMENTS_CODEC_JWKS_URL, PAYMENTS_CODEC_ISSUER and
  PAYMENTS_CODEC_AUDIENCE an entry may have subject or group instead, as the
  Web UI's own tokens name them. TLS by PAYMENTS_CODEC_CERT_FILE and
  PAYMENTS_CODEC_KEY_FILE; without it only this machine is answered.

  Ctrl-C or SIGTERM ends it.

  Exit codes: 0 help was shown, 2 bad settings, 130 interrupted.`,
  ),
  Command.withExamples([
    {
      command: "starter codec-server --anonymous masked --origin http://localhost:8233",
      description: "For the Web UI of this machine",
    },
  ]),
);
