import { messageOf } from "@durable-payments/api-core/values";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { CannotStart } from "../cannot-start.ts";
import type { Check, Verdict } from "./checks.ts";
import type { HealthAddress } from "./health-address.ts";

const STARTING: Verdict = { check: "pollers", ok: false, why: "the worker starts" };

const HTTP_OK = 200;
const NOT_FOUND = 404;
const NOT_ALLOWED = 405;
const NOT_READY = 503;

/** More than a platform has probes; whoever opens connections for nothing takes the worker no file that it needs. */
const MOST_CONNECTIONS = 64;

/** Who asks slowly is not waited for. */
const ASKED_WITHIN_MS = 5_000;

const answer = (response: ServerResponse, status: number, body: string): void => {
  response.writeHead(status, {
    "content-type": "application/x-ndjson",
    "cache-control": "no-store",
  });
  response.end(`${body}\n`);
};

/** Tells whoever asks by HTTP whether the worker lives (`/livez`) and takes work (`/readyz`). */
export class HealthListener {
  readonly #server: Server;
  readonly #closed = new AbortController();
  #checks: ReadonlyArray<Check> = [() => STARTING];

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", ({ method = "", url = "" }, response) => {
      // What is asked for is compared, never parsed: it may be anything.
      const [path] = url.split("?", 1);
      if (!["GET", "HEAD"].includes(method)) {
        answer(response, NOT_ALLOWED, JSON.stringify({ methods: ["GET", "HEAD"] }));
      } else if (path === "/readyz") this.#answerReadiness(response);
      // That it answers at all is what it says: its event loop turns.
      else if (path === "/livez") answer(response, HTTP_OK, JSON.stringify({ ok: true }));
      else answer(response, NOT_FOUND, JSON.stringify({ paths: ["/livez", "/readyz"] }));
    });
  }

  /**
   * Listen; until {@link HealthListener.watch} is called, the worker is not ready.
   *
   * @throws CannotStart where something else listens there, or the address is none of this machine.
   */
  static async listen({ host, port }: HealthAddress): Promise<HealthListener> {
    const server = createServer({
      headersTimeout: ASKED_WITHIN_MS,
      requestTimeout: ASKED_WITHIN_MS,
      connectionsCheckingInterval: 1_000,
    });
    server.maxConnections = MOST_CONNECTIONS;
    const listener = new HealthListener(server);
    try {
      await once(server.listen(port, host), "listening");
    } catch (error) {
      throw new CannotStart(
        `The worker cannot listen at ${host}:${port} (PAYMENTS_HEALTH_ADDRESS): ${messageOf(error)}.`,
      );
    }
    // A connection that cannot be accepted, as where no file can be opened, must not end the worker.
    server.on("error", () => undefined);
    return listener;
  }

  /** Where it listens. */
  get address(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") return "";
    const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
    return `${host}:${address.port}`;
  }

  /**
   * Answer with these checks from now on.
   *
   * @param make makes them; what they ask for themselves ends with the signal.
   */
  watch(make: (closed: AbortSignal) => ReadonlyArray<Check>): void {
    this.#checks = make(this.#closed.signal);
  }

  /** End the checks and all connections. */
  close(): void {
    this.#closed.abort();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answerReadiness(response: ServerResponse): void {
    const verdicts = this.#checks.map((check) => check());
    const status = verdicts.every(({ ok }) => ok) ? HTTP_OK : NOT_READY;
    answer(response, status, verdicts.map((verdict) => JSON.stringify(verdict)).join("\n"));
  }
}
