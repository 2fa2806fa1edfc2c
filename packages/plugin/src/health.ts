import { currentApiKey, PaymentsClient } from "@durable-payments/client/effect";
import { messageOf } from "@durable-payments/client/values";
import type { Ledger } from "@durable-payments/ledger";
import { temporalReason } from "@durable-payments/protocol";
import type { Client } from "@temporalio/client";
import type { Worker } from "@temporalio/worker";
import { Effect, Result } from "effect";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Account } from "./accounts.ts";
import { type Listener, listen } from "./listen.ts";

/** Result of a check. */
interface Verdict {
  readonly check: "pollers" | "temporal" | "signIn" | "ledger";
  /** Name of the account, if it has one. */
  readonly account?: string;
  readonly ok: boolean;
  readonly why?: string;
}

/** Returns its last result at once. */
export type Check = () => Verdict;

/** With the time of an answer, less than the minute within which a fault is to be seen. */
const LOOK_EVERY_MS = 20_000;
const ANSWERED_WITHIN_MS = 15_000;

/** A check is good as long as it has succeeded within this time: a fault that passes stops nothing. */
const GOOD_FOR_MS = 60_000;

const verdict = (check: Verdict["check"], why: string | undefined): Verdict =>
  why === undefined ? { check, ok: true } : { check, ok: false, why };

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
  // It was good before the worker began.
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
    const isGood = sinceMs <= GOOD_FOR_MS;
    return verdict(check, isGood ? undefined : `for ${Math.round(sinceMs / 1000)} s: ${why}`);
  };
};

/** Checks whether each of the workers polls. */
export const pollersCheck =
  (workers: ReadonlyArray<Worker>): Check =>
  () => {
    const others = workers
      .filter((worker) => worker.getState() !== "RUNNING")
      .map((worker) => `${worker.options.taskQueue} is ${worker.getState().toLowerCase()}`);
    return verdict("pollers", others.length === 0 ? undefined : others.join(", "));
  };

/** Checks whether Temporal responds, and accepts this worker. */
export const temporalCheck = (client: Client, closed: AbortSignal): Check => {
  const { namespace } = client.options;
  const ask = () =>
    client.withDeadline(Date.now() + ANSWERED_WITHIN_MS, () =>
      client.workflowService.describeNamespace({ namespace }),
    );
  return withinAMinute("temporal", ask, temporalReason, closed);
};

/** Checks whether the ledger can be written: a full disk and a standby can only be read. A ledger that waits for `recover` can be written. */
export const ledgerCheck = (ledger: Ledger, closed: AbortSignal): Check =>
  withinAMinute("ledger", () => ledger.check(), messageOf, closed);

/**
 * Checks whether the service has refused the last sign-in of an account. A service that does not respond does not
 * make the worker unready. A refused key is tried again after a minute, because all workers share its sign-ins; a new key
 * is tried at once.
 */
export const signInCheck = (
  { name, options, runtime }: Pick<Account, "name" | "options" | "runtime">,
  closed: AbortSignal,
): Check => {
  let refused: string | undefined;
  let triedKey = currentApiKey(options);
  let triedAt = -Infinity;
  void keepAsking(async (signal) => {
    const key = currentApiKey(options);
    const isSettled = refused !== undefined && key === triedKey;
    if (isSettled && performance.now() - triedAt < GOOD_FOR_MS) return;
    triedKey = key;
    triedAt = performance.now();
    const ping = Effect.flatMap(PaymentsClient, (client) => Effect.result(client.ping()));
    const answer = await runtime.runPromise(ping, { signal }).catch(() => undefined);
    if (answer === undefined) return;
    if (Result.isSuccess(answer)) refused = undefined;
    else if (answer.failure._tag === "NotAuthenticated") refused = answer.failure.message;
  }, closed);
  return () => ({
    ...verdict("signIn", refused),
    ...(name !== undefined && { account: name }),
  });
};

const JSON_LINES = "application/x-ndjson";
const PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

/** Sources of a listener's answers. */
interface Watched {
  readonly checks: ReadonlyArray<Check>;
  /** Writes the metrics. */
  readonly scrape: () => Promise<string>;
}

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly body: string;
}

const answerTo = async (
  { method = "", url = "" }: IncomingMessage,
  { checks, scrape }: Watched,
): Promise<Answer> => {
  if (!["GET", "HEAD"].includes(method)) {
    return { status: 405, body: JSON.stringify({ methods: ["GET", "HEAD"] }) };
  }
  // The path is compared, never parsed: it may be anything.
  switch (url.split("?", 1)[0]) {
    case "/readyz": {
      const verdicts = checks.map((check) => check());
      const status = verdicts.every(({ ok }) => ok) ? 200 : 503;
      return { status, body: verdicts.map((each) => JSON.stringify(each)).join("\n") };
    }
    case "/livez":
      // An answer shows that the event loop turns.
      return { body: JSON.stringify({ ok: true }) };
    case "/metrics":
      return { body: await scrape(), type: PROMETHEUS };
    default:
      return { status: 404, body: JSON.stringify({ paths: ["/livez", "/readyz", "/metrics"] }) };
  }
};

/** Answers by HTTP whether the worker lives (`/livez`) and takes work (`/readyz`), and with its metrics. */
export interface HealthListener extends Listener {
  /** Sets the sources of its responses; checks stop when it is closed. */
  readonly watch: (make: (closed: AbortSignal) => Watched) => void;
}

/**
 * Listens for probes; the worker is not ready before {@link HealthListener.watch} is called.
 *
 * @param at as the settings have it: a port, or `HOST:PORT`.
 * @throws CannotStart if another program listens there, or the address does not belong to this machine.
 */
export const listenForProbes = async (at: string): Promise<HealthListener> => {
  const closed = new AbortController();
  let watched: Watched = {
    checks: [() => verdict("pollers", "the worker is starting")],
    scrape: async () => "",
  };
  const listener = await listen(at, "PAYMENTS_HEALTH_ADDRESS", (request, response) => {
    answerTo(request, watched).then(
      ({ body, status = 200, type = JSON_LINES }) => {
        response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
        response.end(`${body}\n`);
      },
      () => response.destroy(),
    );
  });
  return {
    address: listener.address,
    watch: (make) => {
      watched = make(closed.signal);
    },
    close: () => {
      closed.abort();
      listener.close();
    },
  };
};
