import { lookUp } from "../values.ts";

/** No whole response was received. `sent` is false only if it is certain that no byte left. */
export class NoResponse {
  readonly _tag = "NoResponse";
  readonly sent: boolean;
  readonly reason: string;
  /** The first thing a person has to do: if it is sent again, the same happens. */
  readonly remedy: string | undefined;
  constructor(sent: boolean, reason: string, remedy?: string) {
    this.sent = sent;
    this.reason = reason;
    this.remedy = remedy;
  }
}

/** The fault of a connection, and what a person has to do about it, in words for a person. */
export interface ConnectionFault {
  readonly reason: string;
  readonly remedy?: string;
  /** Whether the fault proves that nothing was sent, because there was no connection. */
  readonly isBeforeSending: boolean;
}

type Fault = Omit<ConnectionFault, "isBeforeSending">;

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "its host name cannot be resolved",
  EAI_AGAIN: "its host name cannot be resolved",
  UND_ERR_CONNECT_TIMEOUT: "no connection within the time allowed",
  ETIMEDOUT: "no connection within the time allowed",
  EHOSTUNREACH: "its host cannot be reached",
  ENETUNREACH: "its network cannot be reached",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was closed",
  UND_ERR_SOCKET: "the connection was closed before the complete response arrived",
  UND_ERR_RES_EXCEEDED_MAX_SIZE: "its response is too long",
  UND_ERR_INVALID_ARG: "the request cannot be written as HTTP",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak TLS",
  EPROTO: "its TLS handshake is faulty",
  UND_ERR_DESTROYED: "the client is closed",
  UND_MOCK_ERR_MOCK_NOT_MATCHED: "its MockAgent has no response for it",
};

const BEFORE_SENDING = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ENOTFOUND",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_MOCK_ERR_MOCK_NOT_MATCHED",
]);

const OWN_CA =
  "If your own CA signed it, set PAYMENTS_CA_FILE (caFile) to a file with that CA's certificate.";
const UNTRUSTED = { reason: "its TLS certificate is not signed by a trusted CA", remedy: OWN_CA };

const OTHER_CERTIFICATE =
  "Check PAYMENTS_CLIENT_CERT_FILE and PAYMENTS_CLIENT_KEY_FILE (clientCertFile, clientKeyFile).";

/** Faults of TLS, which stay until somebody does something. */
const tlsFaults: Readonly<Record<string, Fault>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: {
    reason: "its TLS certificate is for another name",
    remedy: "Check the host name in PAYMENTS_BASE_URL (baseUrl).",
  },
  CERT_HAS_EXPIRED: {
    reason: "its TLS certificate has expired",
    remedy: "The operator of the service has to renew it. Also check the clock of this machine.",
  },
  CERT_NOT_YET_VALID: {
    reason: "its TLS certificate is not valid yet",
    remedy: "Check the clock of this machine.",
  },
  CERT_REVOKED: {
    reason: "its TLS certificate was revoked",
    remedy: "The operator of the service has to renew it.",
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  INVALID_CA: UNTRUSTED,
  INVALID_PURPOSE: {
    reason: "its TLS certificate is not a server certificate",
    remedy: "The operator of the service has to replace it.",
  },
};

/** The words of a TLS alert in the code of an error, as every version of OpenSSL has them. */
const ALERT = /ALERT_([A-Z_]+)$/;

/** The alerts by which the other side says that it requires a client certificate, or another one. */
const alertFaults: Readonly<Record<string, Fault>> = {
  CERTIFICATE_REQUIRED: {
    reason: "it requires a client certificate",
    remedy:
      "Set PAYMENTS_CLIENT_CERT_FILE and PAYMENTS_CLIENT_KEY_FILE (clientCertFile, clientKeyFile).",
  },
  HANDSHAKE_FAILURE: {
    reason: "it refused the TLS handshake",
    remedy:
      "If it requires a client certificate, set PAYMENTS_CLIENT_CERT_FILE and PAYMENTS_CLIENT_KEY_FILE (clientCertFile, clientKeyFile).",
  },
  PROTOCOL_VERSION: {
    reason: "it does not speak TLS 1.2 or 1.3",
    remedy: "This client supports no earlier version.",
  },
};

const CERTIFICATE_ALERTS = new Set([
  "ACCESS_DENIED",
  "BAD_CERTIFICATE",
  "CERTIFICATE_EXPIRED",
  "CERTIFICATE_REVOKED",
  "CERTIFICATE_UNKNOWN",
  "UNKNOWN_CA",
  "UNSUPPORTED_CERTIFICATE",
]);

const alertFault = (code: string): Fault | undefined => {
  const alert = ALERT.exec(code)?.[1] ?? "";
  if (!CERTIFICATE_ALERTS.has(alert)) return lookUp(alertFaults, alert);
  const words = alert.toLowerCase().replaceAll("_", " ");
  return {
    reason: `it does not accept the client certificate (TLS alert: ${words})`,
    remedy: OTHER_CERTIFICATE,
  };
};

const TUNNEL = /^Proxy response \((\d{3})\)/;

/** Why a proxy opened no tunnel, by undici's message. */
const tunnelFault = ({ message }: Error): Fault | undefined => {
  const status = TUNNEL.exec(message)?.[1];
  if (status === undefined) return undefined;
  const reason = `the proxy answered HTTP ${status} to CONNECT`;
  // After HTTP 5xx, the proxy may open a tunnel later.
  if (status.startsWith("5")) return { reason };
  const remedy =
    status === "407"
      ? "Put the proxy's user and password into HTTPS_PROXY (proxy): http://USER:PASSWORD@HOST:PORT."
      : "The proxy must allow this machine to reach the service.";
  return { reason, remedy };
};

/** Returns what went wrong with a connection: never the message of the error, which may have anything in it. */
export const connectionFault = (error: Error): ConnectionFault => {
  const tunnel = tunnelFault(error);
  if (tunnel !== undefined) return { ...tunnel, isBeforeSending: true };
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const untrusted = lookUp(tlsFaults, code);
  if (untrusted !== undefined) return { ...untrusted, isBeforeSending: true };
  const isBeforeSending = BEFORE_SENDING.has(code);
  const refused = alertFault(code);
  if (refused !== undefined) return { ...refused, isBeforeSending };
  if (code.startsWith("HPE_")) return { reason: "its response is not HTTP", isBeforeSending };
  const otherwise = code === "" ? "the connection failed" : `the connection failed (${code})`;
  return { reason: lookUp(reasons, code) ?? otherwise, isBeforeSending };
};
