import { messageOf } from "@durable-payments/api-core/values";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { CannotStart } from "../cannot-start.ts";
import { type Look, scrape } from "../metrics/scrape.ts";
import type { Check, Verdict } from "./checks.ts";
import type { HealthAddress } from "./health-address.ts";

/** What a listener tells of a worker. */
export interface Told {
  /** What it is ready by. */
  readonly checks: ReadonlyArray<Check>;
  /** What is looked up for its metrics. */
  readonly looks: ReadonlyArray<Look>;
}

const STARTING: Verdict = { check: "pollers", ok: false, why: "the worker starts" };

const HTTP_OK = 200;
const NOT_FOUND = 404;
const NOT_ALLOWED = 405;
const NOT_READY = 503;

/** More than a platform has probes; whoever opens connections for nothing takes the worker no file that it needs. */
const MOST_CONNECTIONS = 64;

/** Who asks slowly is not waited for. */
const ASKED_WITHIN_MS = 5_000;

const PATHS = ["/livez", "/readyz", "/metrics"];

const JSON_LINES = "application/x-ndjson";
const PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

const answer = (
  response: ServerResponse,
  status: number,
  body: string,
  type: string = JSON_LINES,
): void => {
  response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
  response.end(`${body}\n`);
};

/** Tells whoever asks by HTTP whether the worker lives (`/livez`) and takes work (`/readyz`), and its metrics. */
export class HealthListener {
  readonly #server: Server;
  readonly #closed = new AbortController();
  #told: Told = { checks: [() => STARTING], looks: [] };

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
      else if (path === "/metrics") this.#answerMetrics(response).catch(() => response.destroy());
      else answer(response, NOT_FOUND, JSON.stringify({ paths: PATHS }));
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
   * Tell this from now on.
   *
   * @param make makes it; what checks ask for themselves ends with the signal.
   */
  watch(make: (closed: AbortSignal) => Told): void {
    this.#told = make(this.#closed.signal);
  }

  /** End the checks and all connections. */
  close(): void {
    this.#closed.abort();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answerReadiness(response: ServerResponse): void {
    const verdicts = this.#told.checks.map((check) => check());
    const status = verdicts.every(({ ok }) => ok) ? HTTP_OK : NOT_READY;
    answer(response, status, verdicts.map((verdict) => JSON.stringify(verdict)).join("\n"));
  }

  async #answerMetrics(response: ServerResponse): Promise<void> {
    answer(response, HTTP_OK, await scrape(this.#told.looks), PROMETHEUS);
  }
}
