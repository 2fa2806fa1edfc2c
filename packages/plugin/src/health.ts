import type { PaymentsRuntime } from "@durable-payments/activities";
import { type ClientOptions, currentApiKey, PaymentsClient } from "@durable-payments/api-core";
import { messageOf } from "@durable-payments/api-core/values";
import type { Ledger } from "@durable-payments/ledger";
import { temporalReason } from "@durable-payments/protocol";
import type { Client } from "@temporalio/client";
import type { Worker } from "@temporalio/worker";
import { Effect, Result } from "effect";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { CannotStart } from "./settings.ts";

/** What a check has found. */
interface Verdict {
  readonly check: "pollers" | "temporal" | "signIn" | "ledger";
  /** Name of the account that it is about, if it has one. */
  readonly account?: string;
  readonly ok: boolean;
  readonly why?: string;
}

/** Says what is known now; it asks nobody. */
export type Check = () => Verdict;

/** With the time of an answer, less than the minute within which a fault is to be seen. */
const LOOK_EVERY_MS = 20_000;
const ANSWERED_WITHIN_MS = 15_000;

/** A check is good as long as it has succeeded within this time: a fault that passes stops nothing. */
const GOOD_FOR_MS = 60_000;

const keepAsking = async (
  ask: (signal: AbortSignal) => Promise<void>,
  closed: AbortSignal,
): Promise<void> => {
  while (!closed.aborted) {
    await ask(AbortSignal.any([closed, AbortSignal.timeout(ANSWERED_WITHIN_MS)]));
    await sleep(LOOK_EVERY_MS, undefined, { signal: closed }).catch(() => undefined);
  }
};

const withinAMinute = (
  check: Verdict["check"],
  ask: () => Promise<unknown>,
  reasonOf: (error: unknown) => string,
  closed: AbortSignal,
): Check => {
  // It was found good before the worker began.
  let goodAt = performance.now();
  let why = "no answer";
  void keepAsking(async () => {
    try {
      await ask();
      goodAt = performance.now();
    } catch (error) {
      why = reasonOf(error);
    }
  }, closed);
  return () => {
    const sinceMs = performance.now() - goodAt;
    return sinceMs <= GOOD_FOR_MS
      ? { check, ok: true }
      : { check, ok: false, why: `for ${Math.round(sinceMs / 1000)} s: ${why}` };
  };
};

/** Checks whether each of the workers polls. */
export const pollersCheck =
  (workers: ReadonlyArray<Worker>): Check =>
  () => {
    const words = workers
      .filter((worker) => worker.getState() !== "RUNNING")
      .map((worker) => `${worker.options.taskQueue} is ${worker.getState().toLowerCase()}`);
    return words.length === 0
      ? { check: "pollers", ok: true }
      : { check: "pollers", ok: false, why: words.join(", ") };
  };

/** Checks whether Temporal answers, and lets this worker in. */
export const temporalCheck = (client: Client, closed: AbortSignal): Check => {
  const { namespace } = client.options;
  const ask = () =>
    client.withDeadline(Date.now() + ANSWERED_WITHIN_MS, () =>
      client.workflowService.describeNamespace({ namespace }),
    );
  return withinAMinute("temporal", ask, temporalReason, closed);
};

/** Checks whether the ledger answers. One that was restored and waits for `recover` answers. */
export const ledgerCheck = (ledger: Ledger, closed: AbortSignal): Check =>
  withinAMinute("ledger", () => ledger.state(), messageOf, closed);

/** How long a refused key is not tried again: all workers share the sign-ins of a minute. */
const REFUSED_FOR_MS = 60_000;

/**
 * Checks whether the service has refused the last sign-in of an account, or its token and the sign-in after it. A
 * service that does not answer is no fault of the worker, which waits for it. Another key is tried as soon as there is
 * one.
 */
export const signInCheck = (
  {
    name,
    options,
    runtime,
  }: {
    readonly name: string | undefined;
    readonly options: Pick<ClientOptions, "apiKey">;
    readonly runtime: PaymentsRuntime;
  },
  closed: AbortSignal,
): Check => {
  let refused: string | undefined;
  let triedKey = currentApiKey(options);
  let triedAt = -Infinity;
  void keepAsking(async (signal) => {
    const key = currentApiKey(options);
    const isSettled = refused !== undefined && key === triedKey;
    if (isSettled && performance.now() - triedAt < REFUSED_FOR_MS) return;
    triedKey = key;
    triedAt = performance.now();
    const ping = Effect.flatMap(PaymentsClient, (client) => Effect.result(client.ping()));
    const answer = await runtime.runPromise(ping, { signal }).catch(() => undefined);
    if (answer === undefined) return;
    if (Result.isSuccess(answer)) refused = undefined;
    else if (answer.failure._tag === "NotAuthenticated") refused = answer.failure.message;
  }, closed);
  return () => ({
    check: "signIn",
    ...(name !== undefined && { account: name }),
    ...(refused === undefined ? { ok: true } : { ok: false, why: refused }),
  });
};

const STARTING: Verdict = { check: "pollers", ok: false, why: "the worker starts" };

/** More than a platform has probes: connections that nobody needs take the worker no file that it needs. */
const MOST_CONNECTIONS = 64;

/** A slow request is not waited for. */
const ASKED_WITHIN_MS = 5_000;

const PATHS = ["/livez", "/readyz", "/metrics"];

const JSON_LINES = "application/x-ndjson";
const PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

const LOOPBACK = "127.0.0.1";

const answer = (
  response: ServerResponse,
  status: number,
  body: string,
  type: string = JSON_LINES,
): void => {
  response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
  response.end(`${body}\n`);
};

/** What a listener answers with. */
export interface Watched {
  readonly checks: ReadonlyArray<Check>;
  /** Writes the metrics. */
  readonly scrape: () => Promise<string>;
}

/** Answers by HTTP whether the worker lives (`/livez`) and takes work (`/readyz`), and with its metrics. */
export class HealthListener {
  readonly #server: Server;
  readonly #closed = new AbortController();
  #watched: Watched = { checks: [() => STARTING], scrape: async () => "" };

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", ({ method = "", url = "" }, response) => {
      // The path is compared, never parsed: it may be anything.
      const [path] = url.split("?", 1);
      if (!["GET", "HEAD"].includes(method)) {
        answer(response, 405, JSON.stringify({ methods: ["GET", "HEAD"] }));
      } else if (path === "/readyz") this.#answerReadiness(response);
      // An answer says that the event loop turns.
      else if (path === "/livez") answer(response, 200, JSON.stringify({ ok: true }));
      else if (path === "/metrics") {
        this.#watched.scrape().then(
          (text) => answer(response, 200, text, PROMETHEUS),
          () => response.destroy(),
        );
      } else answer(response, 404, JSON.stringify({ paths: PATHS }));
    });
  }

  /**
   * Listens; until {@link HealthListener.watch} is called, the worker is not ready.
   *
   * @param address as the settings have it: a port, or `HOST:PORT`.
   * @throws CannotStart if something else listens there, or the address does not belong to this machine.
   */
  static async listen(address: string): Promise<HealthListener> {
    const [, host = LOOPBACK, port] = /^(?:\[?([^[\]]+)\]?:)?(\d+)$/.exec(address) ?? [];
    const server = createServer({
      headersTimeout: ASKED_WITHIN_MS,
      requestTimeout: ASKED_WITHIN_MS,
      connectionsCheckingInterval: 1_000,
    });
    server.maxConnections = MOST_CONNECTIONS;
    try {
      await once(server.listen(Number(port), host), "listening");
    } catch (error) {
      throw new CannotStart(
        `The worker cannot listen at ${host}:${port} (PAYMENTS_HEALTH_ADDRESS): ${messageOf(error)}.`,
      );
    }
    // A connection that cannot be accepted, because no file can be opened, must not end the worker.
    server.on("error", () => undefined);
    return new HealthListener(server);
  }

  /** Where it listens, as `HOST:PORT`. */
  get address(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") return "";
    const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
    return `${host}:${address.port}`;
  }

  /**
   * Answers with this from now on.
   *
   * @param make makes it; checks stop asking when the signal aborts.
   */
  watch(make: (closed: AbortSignal) => Watched): void {
    this.#watched = make(this.#closed.signal);
  }

  /** Ends the checks and all connections. */
  close(): void {
    this.#closed.abort();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answerReadiness(response: ServerResponse): void {
    const verdicts = this.#watched.checks.map((check) => check());
    const status = verdicts.every(({ ok }) => ok) ? 200 : 503;
    answer(response, status, verdicts.map((verdict) => JSON.stringify(verdict)).join("\n"));
  }
}
