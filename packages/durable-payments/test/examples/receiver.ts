import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

/** Receives events, verifies their signatures, and handles each once. */
export const receiveEvents = (
  secret: string,
  // In your database: the id is recorded in the transaction that handles the event.
  handleOnce: (id: string, event: { readonly type: string }) => Promise<void>,
) =>
  createServer(async (request, response) => {
    const headers = request.headers as Record<string, string>;
    let event: unknown;
    try {
      event = new Webhook(secret).verify(await text(request), headers);
    } catch {
      return response.writeHead(401).end();
    }
    await handleOnce(headers["webhook-id"] ?? "", event as { readonly type: string }).then(
      () => response.writeHead(204).end(),
      // It comes again.
      () => response.writeHead(500).end(),
    );
  });
