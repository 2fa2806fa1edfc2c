import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Certificate } from "./certificates.ts";

export interface ConnectProxy extends AsyncDisposable {
  /** `HOST:PORT`. */
  readonly address: string;
  /** The target of each CONNECT so far, and its credentials. */
  readonly tunnels: ReadonlyArray<{ readonly target: string; readonly authorization: string }>;
}

/** A proxy on a free port of this machine that opens tunnels, or refuses to by a status. */
export const startProxy = async ({
  refuses,
  tls,
}: {
  /** The status for this CONNECT (from 0); none where it is let through. Never answers where `silent`. */
  readonly refuses?: (request: IncomingMessage, n: number) => number | "silent" | undefined;
  readonly tls?: Certificate;
} = {}): Promise<ConnectProxy> => {
  const tunnels: Array<ConnectProxy["tunnels"][number]> = [];
  const sockets = new Set<Socket>();
  const server = tls === undefined ? createServer() : createSecureServer(tls);
  server.on(tls === undefined ? "connection" : "secureConnection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  server.on("connect", (request: IncomingMessage, client: Socket) => {
    const target = request.url ?? "";
    const authorization = request.headers["proxy-authorization"] ?? "";
    const status = refuses?.(request, tunnels.length);
    tunnels.push({ target, authorization });
    if (status === "silent") return;
    if (status !== undefined) return void client.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const { hostname, port } = new URL(`https://${target}`);
    const upstream = connect(Number(port), hostname.replace(/^\[(.*)\]$/, "$1"));
    sockets.add(upstream);
    upstream.on("error", () => client.destroy());
    upstream.on("close", () => client.destroy());
    client.on("close", () => upstream.destroy());
    upstream.on("connect", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      client.pipe(upstream).pipe(client);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    address: `localhost:${port}`,
    tunnels,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), "close");
    },
  };
};
