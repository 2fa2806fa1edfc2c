import { messageOf } from "@durable-payments/client/values";
import { isOnThisMachine } from "@durable-payments/protocol/temporal-connection";
import type { DataConverter, Payload } from "@temporalio/common";
import { once } from "node:events";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { decodeMessage } from "../decode-message.ts";
import { KeysUnavailable } from "../key-provider.ts";
import { maskedPayload, readPayloads, writePayloads } from "./payloads.ts";
import { type Authenticate, CannotServe, type CodecUser } from "./users.ts";

/** Log entry of a request to the codec server, without any value. */
export interface CodecRequestEntry {
  /** When, ISO 8601. */
  readonly at: string;
  readonly operation: "decode" | "encode" | "unknown";
  /** HTTP status of the answer. */
  readonly status: number;
  /** The user; undefined if unknown. */
  readonly user: string | undefined;
  readonly role: CodecUser["role"] | undefined;
  readonly origin: string | undefined;
  readonly payloads: number;
  /** Ids of the keys that the payloads were encrypted under. */
  readonly keyIds: ReadonlyArray<string>;
}

/** Settings of {@link startCodecServer}. */
export interface CodecServerSettings {
  /** The namespace whose payloads are decoded. */
  readonly namespace: string;
  readonly dataConverter: DataConverter;
  /** Origins of the Web UIs whose pages may call the server, such as `https://temporal.example.com`. */
  readonly origins: ReadonlyArray<string>;
  readonly authenticate: Authenticate;
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Certificate and key in PEM. Without them, the server responds only to this machine, unless a proxy terminates TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly isBehindTlsProxy?: boolean;
  readonly log: (entry: CodecRequestEntry) => void;
}

/** A page of a history in the Web UI is less; it is 4/3 of that in Base64. */
const LONGEST_BODY = 32 * 1024 * 1024;
const KEY_ID = "encryption-key-id";

/** Longest time for requests in flight when the server closes. */
const CLOSE_WITHIN_MS = 2_000;

/** With these headers, a browser lets a page of an allowed origin call the server. */
const ALLOWED = {
  "access-control-allow-credentials": "true",
  "access-control-allow-methods": "POST",
  "access-control-allow-headers": "authorization, content-type, x-namespace",
  "access-control-max-age": "600",
};

/** A response with the error. */
class Failed extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  if (Number(request.headers["content-length"] ?? 0) > LONGEST_BODY) {
    throw new Failed(413, "The body is too long");
  }
  let length = 0;
  request.on("data", (chunk: Uint8Array) => {
    length += chunk.length;
    if (length > LONGEST_BODY) request.destroy(new Failed(413, "The body is too long"));
  });
  const json = await text(request);
  try {
    return JSON.parse(json);
  } catch {
    throw new Failed(400, "The body is not JSON");
  }
};

const keyIdsOf = (payloads: ReadonlyArray<Payload>): ReadonlyArray<string> => {
  const ids = payloads.map(({ metadata }) => Buffer.from(metadata?.[KEY_ID] ?? []).toString());
  const shown = ids.map((id) => id.replaceAll(/[^\w.-]/g, "?").slice(0, 64));
  return [...new Set(shown)].filter((id) => id !== "");
};

const decode = async (
  payloads: ReadonlyArray<Payload>,
  dataConverter: DataConverter,
  { role }: CodecUser,
): Promise<ReadonlyArray<Payload>> => {
  const decoded = payloads.map((payload) => ({ ...payload }));
  await decodeMessage(decoded, dataConverter, { keepUndecodable: true });
  return role === "masked" ? decoded.map(maskedPayload) : decoded;
};

const encode = async (
  payloads: ReadonlyArray<Payload>,
  { payloadCodecs = [] }: DataConverter,
): Promise<ReadonlyArray<Payload>> => {
  let encoded = [...payloads];
  for (const codec of payloadCodecs) encoded = await codec.encode(encoded);
  return encoded;
};

/** `/decode` and `/encode`, with or without the namespace before them. */
const PATH = /^(?:\/(?<namespace>[^/]+))?\/(?<operation>decode|encode)$/;

type Entry = {
  -readonly [Name in keyof CodecRequestEntry]: CodecRequestEntry[Name];
};

const answerTo = async (
  request: IncomingMessage,
  { authenticate, dataConverter, namespace }: CodecServerSettings,
  entry: Entry,
): Promise<string> => {
  const { pathname } = new URL(request.url ?? "/", "http://codec");
  const groups = PATH.exec(pathname)?.groups;
  if (groups === undefined) throw new Failed(404, "The paths are /decode and /encode");
  const operation = groups["operation"] === "encode" ? "encode" : "decode";
  entry.operation = operation;
  if (request.method !== "POST") throw new Failed(405, "Use POST");
  const user = await authenticate(request.headers.authorization);
  if (user === undefined)
    throw new Failed(401, "Sign in: this codec server does not recognise you");
  entry.user = user.name;
  entry.role = user.role;
  const asked = [groups["namespace"], request.headers["x-namespace"]].flatMap((name) =>
    typeof name === "string" ? [decodeURIComponent(name)] : [],
  );
  if (asked.some((name) => name !== namespace)) {
    throw new Failed(403, `This codec server decodes only the namespace ${namespace}`);
  }
  if (operation === "encode" && user.role !== "editor") {
    throw new Failed(403, "Encoding requires the role editor");
  }
  const payloads = readPayloads(await bodyOf(request));
  if (payloads === undefined) throw new Failed(400, 'The body must be {"payloads": […]}');
  entry.payloads = payloads.length;
  const given = keyIdsOf(payloads);
  const answered =
    operation === "encode"
      ? await encode(payloads, dataConverter)
      : await decode(payloads, dataConverter, user);
  entry.keyIds = operation === "encode" ? keyIdsOf(answered) : given;
  return writePayloads(answered);
};

const failureOf = (error: unknown): Failed => {
  if (error instanceof Failed) return error;
  if (error instanceof URIError) return new Failed(400, "The namespace is not URL-encoded");
  if (error instanceof KeysUnavailable) return new Failed(503, "The keys cannot be read");
  return new Failed(500, "The payloads could not be processed");
};

const handle = async (
  request: IncomingMessage,
  response: ServerResponse,
  settings: CodecServerSettings,
): Promise<void> => {
  const { origin } = request.headers;
  const isAllowed = origin !== undefined && settings.origins.includes(origin);
  const headers = {
    vary: "Origin",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(isAllowed && { "access-control-allow-origin": origin, ...ALLOWED }),
  };
  if (request.method === "OPTIONS") {
    response.writeHead(204, headers).end();
    return;
  }
  const entry: Entry = {
    at: new Date().toISOString(),
    operation: "unknown",
    status: 200,
    user: undefined,
    role: undefined,
    origin,
    payloads: 0,
    keyIds: [],
  };
  let body: string;
  try {
    if (origin !== undefined && !isAllowed) {
      throw new Failed(403, "Pages of this origin may not use this codec server");
    }
    body = await answerTo(request, settings, entry);
  } catch (error) {
    const { message, status } = failureOf(error);
    entry.status = status;
    body = JSON.stringify({ message });
  }
  settings.log(entry);
  response.writeHead(entry.status, { ...headers, "content-type": "application/json" }).end(body);
};

/**
 * Starts a codec server, so that Temporal's Web UI and command line show decoded payloads: `POST /decode` and
 * `/encode`, or `/{namespace}/decode`, by Temporal's remote codec protocol. A payload that cannot be decoded is returned
 * unchanged.
 *
 * @param settings the namespace, the users, and the address to listen on.
 * @returns the server.
 * @throws CannotServe if it would respond to other machines in plain text, or cannot listen.
 */
export const startCodecServer = async (settings: CodecServerSettings) => {
  const { host, isBehindTlsProxy = false, port, tls } = settings;
  if (tls === undefined && !isBehindTlsProxy && !isOnThisMachine({ address: `${host}:${port}` })) {
    throw new CannotServe(
      `The codec server would serve ${host} in plain text: give it a certificate, or pass --behind-tls-proxy if a proxy in front of it terminates TLS.`,
    );
  }
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void handle(request, response, settings);
  const server =
    tls === undefined
      ? createHttpServer(listener)
      : createHttpsServer({ ...tls, minVersion: "TLSv1.2" }, listener);
  try {
    server.listen(port, host);
    await once(server, "listening");
  } catch (error) {
    throw new CannotServe(
      `The codec server cannot listen on ${host}:${port}: ${messageOf(error)}.`,
    );
  }
  // Such as too many open files: it concerns one connection, and Node would end the process.
  server.on("error", () => undefined);
  // A server that listens on a port has such an address.
  const { port: used } = server.address() as AddressInfo;
  return {
    /** The address to enter in the Web UI. */
    url: `${tls === undefined ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${used}`,
    close: async (): Promise<void> => {
      const closed = once(server, "close");
      server.close();
      server.closeIdleConnections();
      // Node limits the time of a request only until the server closes: without an end, it would keep the server open.
      const late = setTimeout(() => server.closeAllConnections(), CLOSE_WITHIN_MS);
      await closed;
      clearTimeout(late);
    },
  };
};
