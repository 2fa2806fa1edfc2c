import type { TLSConfig } from "@temporalio/common/lib/internal-non-workflow/index.js";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { placeOf } from "./configuration.ts";

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
