import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it came over the wire. */
export interface Received {
  readonly method: string;
  /** Path and query, without `/api/v1`. */
  readonly path: string;
  readonly body: string;
  readonly headers: IncomingMessage["headers"];
  /** Fulfilled when the connection is closed, by whichever side. */
  readonly closed: Promise<void>;
}

/** What a raw service says; `hold` says nothing and leaves the connection open. */
export type Said =
  | "hold"
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body: string;
    };

/** A service that answers bytes written by hand, and keeps what it was asked. */
export interface RawService {
  readonly url: string;
  /** Every request but sign-ins, oldest first. */
  readonly received: ReadonlyArray<Received>;
  /** Fulfilled when the first request but a sign-in is there. */
  readonly asked: Promise<Received>;
  readonly stop: () => Promise<void>;
}

export const TOKEN = "token-of-the-raw-service";

/** The envelope of a success. */
export const success = (data?: unknown): Said => ({
  body: JSON.stringify({ code: 200, message: "Success", ...(data !== undefined && { data }) }),
});

/** The envelope of a refusal. */
export const refusal = (message: string): Said => ({
  status: 400,
  body: JSON.stringify({ code: 400, message }),
});

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
};

const write = (response: ServerResponse, said: Said): void => {
  if (said === "hold") return;
  response.writeHead(said.status ?? 200, { "content-type": "application/json", ...said.headers });
  response.end(said.body);
};

/** Starts a service on a free port. Sign-ins are answered by `signIn`. */
export const startRawService = async (
  answer: (request: Received) => Said,
  signIn: Said = success({ auth_token: TOKEN, expires_at: 4_000_000_000 }),
): Promise<RawService> => {
  const received: Array<Received> = [];
  const asked = Promise.withResolvers<Received>();
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? "").replace("/api/v1", "");
    if (path === "/auth/signin") {
      write(response, signIn);
      return;
    }
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    // One listener for each request of a connection that is kept open.
    request.socket.setMaxListeners(0).once("close", () => resolve());
    const { headers, method = "" } = request;
    const one: Received = { method, path, headers, closed, body: await bodyOf(request) };
    received.push(one);
    asked.resolve(one);
    write(response, answer(one));
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  // A server that listens on a port has an address of this kind.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    asked: asked.promise,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
};
