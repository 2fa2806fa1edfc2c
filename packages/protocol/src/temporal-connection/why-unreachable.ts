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
type Seen =
  | { readonly kind: "silent" | "closed" | "http2" | "http1" | "other" }
  | { readonly kind: "failed"; readonly code: string; readonly message: string };

const seenIn = (answer: Buffer): Seen => {
  if (answer.subarray(0, 5).toString("latin1") === "HTTP/") return { kind: "http1" };
  return { kind: answer[3] === SETTINGS_FRAME && answer.length >= 9 ? "http2" : "other" };
};

/** Says what HTTP/2 begins with, and sees what is answered. */
const look = (socket: Socket, ready: "connect" | "secureConnect"): Promise<Seen> =>
  new Promise((resolve) => {
    const end = (seen: Seen) => {
      socket.destroy();
      resolve(seen);
    };
    socket.setTimeout(LOOK_MS, () => end({ kind: "silent" }));
    socket.once(ready, () => socket.write(PREFACE));
    socket.once("data", (answer) => end(seenIn(answer)));
    socket.once("close", () => end({ kind: "closed" }));
    socket.once("error", (error: NodeJS.ErrnoException) =>
      end({ kind: "failed", code: error.code ?? "", message: error.message }),
    );
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

const lookByTls = (endpoint: TemporalEndpoint): Promise<Seen> =>
  look(tlsSocket(endpoint), "secureConnect");

/** Whether a TLS handshake completes there, whoever it is. */
const speaksTls = (endpoint: TemporalEndpoint): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = tlsSocket(endpoint, { rejectUnauthorized: false, ALPNProtocols: [] });
    const end = (isDone: boolean) => () => {
      socket.destroy();
      resolve(isDone);
    };
    socket.setTimeout(LOOK_MS, end(false));
    socket.once("secureConnect", end(true)).once("error", end(false)).once("close", end(false));
  });

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

const inPlain = async (endpoint: TemporalEndpoint): Promise<string | undefined> => {
  const seen = await lookInPlain(endpoint);
  if (seen.kind === "failed" && NO_CONNECTION[seen.code]) return NO_CONNECTION[seen.code];
  if (seen.kind === "http2") return undefined;
  if (await speaksTls(endpoint)) {
    return "it speaks TLS there, and plain text was sent. Set TEMPORAL_TLS=true";
  }
  if (seen.kind === "http1") return NOT_TEMPORAL;
  return seen.kind === "silent"
    ? "something takes the connection and says nothing: it hangs, or is not Temporal"
    : "something listens there that is not Temporal";
};

const byTls = async (endpoint: TemporalEndpoint): Promise<string | undefined> => {
  const seen = await lookByTls(endpoint);
  if (seen.kind === "http2") return undefined;
  if (seen.kind === "http1") return NOT_TEMPORAL;
  if (seen.kind !== "failed") return undefined;
  if (NO_CONNECTION[seen.code]) return NO_CONNECTION[seen.code];
  if (seen.code.includes("NO_APPLICATION_PROTOCOL")) return NOT_TEMPORAL;
  if (seen.code.includes("CERTIFICATE_REQUIRED")) {
    return "it asks for a client certificate. Set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH to one that it accepts, and its key";
  }
  if (isOfCertificate(seen.code)) {
    return `its TLS certificate is not trusted (${seen.message}). Set TEMPORAL_TLS_SERVER_CA_CERT_PATH to the authority that signed it, or TEMPORAL_TLS_SERVER_NAME to the name that it has`;
  }
  const plain = await lookInPlain(endpoint);
  if (plain.kind === "http2") {
    return "it speaks plain text there, and TLS was asked for (TEMPORAL_TLS, or an API key, asks for it). Set TEMPORAL_TLS=false if the way there is safe";
  }
  if (plain.kind === "http1") return NOT_TEMPORAL;
  return `the TLS handshake failed (${seen.message})`;
};

/** Finds out why Temporal cannot be reached, by a look at what listens there; undefined where HTTP/2 is spoken as it should be. */
export const whyUnreachable = (endpoint: TemporalEndpoint): Promise<string | undefined> =>
  endpoint.tls ? byTls(endpoint) : inPlain(endpoint);
