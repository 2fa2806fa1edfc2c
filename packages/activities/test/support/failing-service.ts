import { createServer, request, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Simulator } from "@durable-payments/simulator";
import { onTestFinished } from "vitest";

/** What stands before a simulator: it lets requests through, answers 503, or refuses connections. */
export interface Outage {
  readonly url: string;
  readonly set: (to: "up" | "503" | "refused") => Promise<void>;
}

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });

/** Puts an outage that can be switched before a simulator; it ends with the test. */
export const outageBefore = async (simulator: Simulator): Promise<Outage> => {
  let isDown = false;
  const target = new URL(simulator.url);
  const handle: RequestListener = (incoming, answer) => {
    if (isDown) {
      answer.writeHead(503, { connection: "close" }).end("Service Unavailable");
      return;
    }
    const onward = request(
      {
        host: target.hostname,
        port: target.port,
        method: incoming.method,
        path: incoming.url,
        headers: { ...incoming.headers, host: target.host },
      },
      (given) => {
        answer.writeHead(given.statusCode ?? 500, given.headers);
        given.pipe(answer);
      },
    );
    onward.on("error", () => answer.destroy());
    incoming.pipe(onward);
  };
  let server: Server | undefined = createServer(handle);
  const port = await listen(server, 0);
  onTestFinished(async () => {
    if (server !== undefined) await close(server);
  });
  return {
    url: `http://127.0.0.1:${port}`,
    set: async (to) => {
      isDown = to === "503";
      if (to === "refused") {
        if (server !== undefined) await close(server);
        server = undefined;
      } else if (server === undefined) {
        server = createServer(handle);
        await listen(server, port);
      }
    },
  };
};
