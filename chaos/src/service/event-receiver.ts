/**
 * A webhook that receives the events as a user's would: it verifies signatures, and fails now and then. Sometimes it has
 * accepted an event when its answer is lost, so the same event comes again.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { Random } from "../plan/random.ts";
import type { Tally } from "../tally.ts";

/** An event that was accepted, by its id and account. */
export interface Received {
  readonly id: string;
  readonly account: string;
}

const SECRET = `whsec_${Buffer.alloc(32, 3).toString("base64")}`;

/** Starts a receiver. */
export const startReceiver = async (seed: number, tally: Tally) => {
  const random = new Random(seed, "receiver");
  const received: Array<Received> = [];
  const refused: Array<string> = [];
  const webhook = new Webhook(SECRET);
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (random.chance(0.1)) {
        tally.add("event refused by its receiver");
        return response.writeHead(random.pick([500, 503, 404])).end();
      }
      try {
        const headers = request.headers as Record<string, string>;
        const { data } = webhook.verify(body, headers) as { readonly data: Received };
        received.push({ id: headers["webhook-id"] ?? "", account: data.account });
      } catch (error) {
        refused.push(`${String(error)}: ${body}`);
      }
      if (!random.chance(0.05)) return response.writeHead(204).end();
      tally.add("answer about an event lost");
      return request.socket.destroy();
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    secret: SECRET,
    received,
    /** Posts without a valid signature. */
    refused,
    end: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
