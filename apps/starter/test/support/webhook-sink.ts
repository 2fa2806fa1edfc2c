import type { Notification } from "@durable-payments/protocol";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { afterAll } from "vitest";

/** A request that was posted. */
interface Posted {
  readonly path: string;
  readonly id: string;
  readonly body: string;
  /** Whether the Standard Webhooks library takes its signature. */
  readonly isSigned: boolean;
  /** The status that it was answered. */
  readonly status: number;
  readonly notification: Notification;
}

export const SECRET = `whsec_${Buffer.from("a secret of 32 bytes, no more no less").subarray(0, 32).toString("base64")}`;

/** An HTTP endpoint that takes notifications, for the tests of one file. */
export const startWebhookSink = async () => {
  const posted: Array<Posted> = [];
  const webhook = new Webhook(SECRET);
  let status = 200;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      let isSigned = true;
      try {
        webhook.verify(body, headers);
      } catch {
        isSigned = false;
      }
      posted.push({
        path: request.url ?? "",
        id: headers["webhook-id"] ?? "",
        body,
        isSigned,
        status,
        // What it is, the tests examine.
        notification: JSON.parse(body) as Notification,
      });
      response.writeHead(status, { location: "/elsewhere" }).end("the endpoint's own words");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // It listens at a port.
  const { port } = server.address() as AddressInfo;
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    host: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}/hook`,
    posted,
    /** What was answered with a status that says that it is taken. */
    delivered: () => posted.filter((one) => one.status === 200),
    answer: (with_: number) => {
      status = with_;
    },
  };
};
