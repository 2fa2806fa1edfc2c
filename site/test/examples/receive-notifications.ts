import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env["PAYMENTS_NOTIFY_SECRET"] ?? "");
const taken = new Set<string>();

const server = createServer(async (request, response) => {
  const headerOf = (name: string) => String(request.headers[name]);
  const id = headerOf("webhook-id");
  let notification: unknown;
  try {
    notification = webhook.verify(await text(request), {
      "webhook-id": id,
      "webhook-timestamp": headerOf("webhook-timestamp"),
      "webhook-signature": headerOf("webhook-signature"),
    });
  } catch {
    response.writeHead(401).end();
    return;
  }
  if (!taken.has(id)) console.log(JSON.stringify(notification));
  taken.add(id);
  response.writeHead(204).end();
});
server.listen(Number(process.env["PORT"] ?? 8080));
