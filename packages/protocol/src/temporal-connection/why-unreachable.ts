import type { TLSConfig } from "@temporalio/common/lib/internal-non-workflow/index.js";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
import { placeOf } from "./configuration.ts";

/** Where Temporal is to be found, and how it is spoken with. */
interface TemporalEndpoint {
  readonly address: string;
  /** As the SDK's configuration has it: false or undefined for plain text. */
  readonly tls: TLSConfig | boolean | null | undefined;
}

/** The longest time that one look takes; what listens there answers at once. */
const LOOK_MS = 1_000;

/** What HTTP/2 begins with: its preface, and a frame of settings without any. */
const PREFACE = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);

const SETTINGS_FRAME = 4;

/** What became of an attempt to talk to what listens there. */
interface Seen {
  readonly kind: "silent" | "closed" | "http2" | "http1" | "other" | "failed";
  /** Of what failed, and what was said of it. */
  readonly code: string;
  readonly message: string;
  /** The connection was made, by TLS with its handshake. */
  readonly isConnected: boolean;
}

const kindOf = (answer: Buffer): Seen["kind"] => {
  if (answer.subarray(0, 5).toString("latin1") === "HTTP/") return "http1";
  return answer[3] === SETTINGS_FRAME && answer.length >= 9 ? "http2" : "other";
};

/** Says what HTTP/2 begins with, and sees what is answered. */
const look = (socket: Socket, ready: "connect" | "secureConnect"): Promise<Seen> =>
  new Promise((resolve) => {
    let isConnected = false;
    const end = (kind: Seen["kind"], { code = "", message = "" } = {}) => {
      socket.destroy();
      resolve({ kind, code, message, isConnected });
    };
    socket.setTimeout(LOOK_MS, () => end("silent"));
    socket.once(ready, () => {
      isConnected = true;
      socket.write(PREFACE);
    });
    socket.once("data", (answer) => end(kindOf(answer)));
    socket.once("close", () => end("closed"));
    socket.once("error", (error: NodeJS.ErrnoException) => end("failed", error));
  });

const lookInPlain = ({ address }: TemporalEndpoint): Promise<Seen> =>
  look(connect(placeOf(address)), "connect");

const tlsSocket = (
  { address, tls }: TemporalEndpoint,
  options: ConnectionOptions = {},
): TLSSocket => {
  const { host, port } = placeOf(address);
  const { clientCertPair, serverNameOverride, serverRootCACertificate } =
    typeof tls === "object" && tls !== null ? tls : {};
  return connectTls({
    host,
    port,
    // An address is no name that a server could be asked for.
    ...(serverNameOverride !== undefined || isIP(host) === 0
      ? { servername: serverNameOverride ?? host }
      : {}),
    ALPNProtocols: ["h2"],
    ...(serverRootCACertificate && { ca: Buffer.from(serverRootCACertificate) }),
    ...(clientCertPair && {
      cert: Buffer.from(clientCertPair.crt),
      key: Buffer.from(clientCertPair.key),
    }),
    ...options,
  });
};

const lookByTls = (endpoint: TemporalEndpoint, options?: ConnectionOptions): Promise<Seen> =>
  look(tlsSocket(endpoint, options), "secureConnect");

/** Why, where no server runs. */
export const NOTHING_LISTENS = "nothing listens there (connection refused)";

const NO_CONNECTION: Readonly<Record<string, string>> = {
  ECONNREFUSED: NOTHING_LISTENS,
  ENOTFOUND: "the name of the host is not known",
  EAI_AGAIN: "the name of the host cannot be looked up",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  ETIMEDOUT: "nothing answers there",
};

const NOT_TEMPORAL =
  "what answers there speaks HTTP, but not as Temporal does: it may be its Web UI, or another server. Temporal's own port is 7233 by default";

const isOfCertificate = (code: string): boolean => /CERT|ALTNAME|SIGN|ISSUER|CRL|CA_/.test(code);

const inPlain = async (endpoint: TemporalEndpoint, { kind }: Seen): Promise<string> => {
  // Whoever it is.
  const byTls = await lookByTls(endpoint, { rejectUnauthorized: false, ALPNProtocols: [] });
  if (byTls.isConnected)
    return "it speaks TLS there, and plain text was sent. Set TEMPORAL_TLS=true";
  if (kind === "http1") return NOT_TEMPORAL;
  return kind === "silent"
    ? "something takes the connection and says nothing: it hangs, or is not Temporal"
    : "something listens there that is not Temporal";
};

const byTls = async (
  endpoint: TemporalEndpoint,
  { code, kind, message }: Seen,
): Promise<string | undefined> => {
  if (kind === "http1" || code.includes("NO_APPLICATION_PROTOCOL")) return NOT_TEMPORAL;
  if (kind !== "failed") return undefined;
  if (code.includes("CERTIFICATE_REQUIRED"))
    return "it asks for a client certificate. Set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH to one that it accepts, and its key";
  if (isOfCertificate(code))
    return `its TLS certificate is not trusted (${message}). Set TEMPORAL_TLS_SERVER_CA_CERT_PATH to the authority that signed it, or TEMPORAL_TLS_SERVER_NAME to the name that it has`;
  const plain = await lookInPlain(endpoint);
  if (plain.kind === "http2")
    return "it speaks plain text there, and TLS was asked for (TEMPORAL_TLS, or an API key, asks for it). Set TEMPORAL_TLS=false if the way there is safe";
  return plain.kind === "http1" ? NOT_TEMPORAL : `the TLS handshake failed (${message})`;
};

/** Finds out why Temporal cannot be reached, by a look at what listens there; undefined where HTTP/2 is spoken as it should be. */
export const whyUnreachable = async (endpoint: TemporalEndpoint): Promise<string | undefined> => {
  const seen = await (endpoint.tls ? lookByTls(endpoint) : lookInPlain(endpoint));
  if (seen.kind === "http2") return undefined;
  return (
    NO_CONNECTION[seen.code] ??
    (await (endpoint.tls ? byTls(endpoint, seen) : inPlain(endpoint, seen)))
  );
};
