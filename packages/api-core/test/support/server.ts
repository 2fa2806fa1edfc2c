import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { TlsOptions } from "node:tls";

/** One request as it came over the wire. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A whole answer. A body that is no text is written as JSON. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** What a server does with the nth request (from 0): a whole answer, or anything to the socket. */
export type Answer = (received: Received, n: number) => Reply | ((raw: Raw) => void);

/** The bare connection, for answers that are not whole. */
interface Raw {
  readonly response: ServerResponse;
  readonly socket: Socket;
}

export interface TestServer extends AsyncDisposable {
  readonly url: string;
  /** All requests but sign-ins, in order. */
  readonly requests: ReadonlyArray<Received>;
  readonly signIns: ReadonlyArray<Received>;
  /** How many connections were opened so far. */
  readonly connections: () => number;
  /** Ends all connections in an orderly way, and waits until they are closed on both sides. */
  readonly closeConnections: () => Promise<void>;
  /** Closes all connections and listens no more. */
  readonly stop: () => Promise<void>;
  /** Resolves when the nth request (from 1) has come. */
  readonly received: (n: number) => Promise<void>;
  /** Resolves when the client has closed the connection of the nth request (from 1). */
  readonly closedByClient: (n: number) => Promise<void>;
}

/** An envelope around data, as the document describes it. */
export const success = (data?: unknown): Reply => ({
  body: { code: 200, message: "Success", ...(data === undefined ? {} : { data }) },
});

/** An envelope that says no. */
export const refusal = (message: string, status = 200): Reply => ({
  status,
  body: { code: 400, message },
});

const FAR = 4_000_000_000;

/** Signs everybody in: `token-1`, `token-2`, … */
export const signsIn = (_received: Received, n: number): Reply =>
  success({ auth_token: `token-${n + 1}`, expired_at: FAR });

const write = (response: ServerResponse, { body = "", headers = {}, status = 200 }: Reply) => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(text);
};

const deferred = () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise, resolve };
};

/** A server on a free port of this machine that answers by hand; over TLS at `localhost`, where that is given. */
export const startServer = async (
  answer: Answer,
  answerSignIn: Answer = signsIn,
  tls?: TlsOptions,
): Promise<TestServer> => {
  const requests: Array<Received> = [];
  const signIns: Array<Received> = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const arrivals = new Map<number, ReturnType<typeof deferred>>();
  const closings = new Map<number, ReturnType<typeof deferred>>();
  const at = (map: typeof arrivals, n: number) => {
    const found = map.get(n) ?? deferred();
    map.set(n, found);
    return found;
  };

  const server = tls === undefined ? createServer() : createSecureServer(tls);
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Array<Buffer> = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const url = new URL(request.url ?? "", "http://localhost");
      const received: Received = {
        method: request.method ?? "",
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      const isSignIn = url.pathname.endsWith("/api/v1/auth/signin");
      const list = isSignIn ? signIns : requests;
      const n = list.push(received) - 1;
      if (!isSignIn) {
        at(arrivals, n + 1).resolve();
        response.on("close", () => {
          if (!response.writableFinished) at(closings, n + 1).resolve();
        });
      }
      const reply = (isSignIn ? answerSignIn : answer)(received, n);
      if (typeof reply === "function") reply({ response, socket: request.socket });
      else write(response, reply);
    });
  });
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  let stopped: Promise<unknown> | undefined;
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    stopped ??= once(server.close(), "close");
    await stopped;
  };

  return {
    url: tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    requests,
    signIns,
    connections: () => connections,
    received: (n) => at(arrivals, n).promise,
    closedByClient: (n) => at(closings, n).promise,
    closeConnections: async () => {
      const closed = [...sockets].map((socket) => once(socket, "close"));
      for (const socket of sockets) socket.end();
      await Promise.all(closed);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
};
