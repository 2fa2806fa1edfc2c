/**
 * Listens for HTTP requests in a process that moves money. Anyone who reaches the address can send anything, so slow requests
 * are ended, and connections are few: they take no file that the worker needs.
 */
import { messageOf } from "@durable-payments/client/values";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { CannotStart } from "./settings.ts";

const MOST_CONNECTIONS = 64;

const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
};

/** A server that answers requests until it is closed. */
export interface Listener {
  /** Where it listens, as `HOST:PORT`. */
  readonly address: string;
  /** Ends all connections. */
  readonly close: () => void;
}

/**
 * Starts a server.
 *
 * @param at as the settings have it: a port, or `HOST:PORT`.
 * @param setting its name, for the error.
 * @throws CannotStart if another program listens there, or the address does not belong to this machine.
 */
export const listen = async (
  at: string,
  setting: string,
  answer: RequestListener,
): Promise<Listener> => {
  const [, host = "127.0.0.1", port] = /^(?:\[?([^[\]]+)\]?:)?(\d+)$/.exec(at) ?? [];
  const server = createServer(LIMITS, answer);
  server.maxConnections = MOST_CONNECTIONS;
  try {
    await once(server.listen(Number(port), host), "listening");
  } catch (error) {
    throw new CannotStart(
      `The worker cannot listen at ${host}:${port} (${setting}): ${messageOf(error)}.`,
    );
  }
  // A connection that cannot be accepted, because no file can be opened, must not end the worker.
  server.on("error", () => undefined);
  const address = server.address();
  const used = typeof address === "object" ? address?.port : port;
  return {
    address: `${host.includes(":") ? `[${host}]` : host}:${used}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
