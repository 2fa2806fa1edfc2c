import type { PaymentsRuntime } from "@durable-payments/activities";
import { type ClientOptions, currentApiKey, PaymentsClient } from "@durable-payments/api-core";
import { messageOf } from "@durable-payments/api-core/values";
import type { Ledger } from "@durable-payments/ledger";
import { temporalReason } from "@durable-payments/protocol";
import type { Client } from "@temporalio/client";
import type { Worker } from "@temporalio/worker";
import { Effect, Result } from "effect";

/** What a check has found. */
export interface Verdict {
  readonly check: "pollers" | "temporal" | "signIn" | "ledger";
  /** Name of the account that it is about, where it has one. */
  readonly account?: string;
  readonly ok: boolean;
  readonly why?: string;
}

/** Says what is known now; it asks nobody. */
export type Check = () => Verdict;

/** With the time of an answer, less than the minute within which a fault is to be seen. */
const LOOK_EVERY_MS = 20_000;
const ANSWERED_WITHIN_MS = 15_000;

const GOOD_FOR_MS = 60_000;

const pause = (milliseconds: number, closed: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      closed.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    closed.addEventListener("abort", end);
  });

const keepAsking = async (
  ask: (signal: AbortSignal) => Promise<void>,
  closed: AbortSignal,
): Promise<void> => {
  while (!closed.aborted) {
    await ask(AbortSignal.any([closed, AbortSignal.timeout(ANSWERED_WITHIN_MS)]));
    await pause(LOOK_EVERY_MS, closed);
  }
};

/** A check that is good as long as it has succeeded in the last minute: a fault that passes stops nothing. */
const withinAMinute = (
  found: Pick<Verdict, "check" | "account">,
  ask: () => Promise<unknown>,
  reasonOf: (error: unknown) => string,
  closed: AbortSignal,
): Check => {
  // Each was found good before the worker began.
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
      ? { ...found, ok: true }
      : { ...found, ok: false, why: `for ${Math.round(sinceMs / 1000)} s: ${why}` };
  };
};

/** Whether each of the workers polls. */
export const pollersCheck =
  (workers: ReadonlyArray<Worker>): Check =>
  () => {
    const resting = workers.filter((worker) => worker.getState() !== "RUNNING");
    const words = resting.map(
      (worker) => `${worker.options.taskQueue} is ${worker.getState().toLowerCase()}`,
    );
    return resting.length === 0
      ? { check: "pollers", ok: true }
      : { check: "pollers", ok: false, why: words.join(", ") };
  };

/** Whether Temporal answers, and lets this worker in. */
export const temporalCheck = (client: Client, closed: AbortSignal): Check => {
  const { namespace } = client.options;
  return withinAMinute(
    { check: "temporal" },
    () =>
      client.withDeadline(Date.now() + ANSWERED_WITHIN_MS, () =>
        client.workflowService.describeNamespace({ namespace }),
      ),
    temporalReason,
    closed,
  );
};

/** Whether the ledger answers. One that was restored and waits for `recover` answers: the worker does what it may. */
export const ledgerCheck = (ledger: Ledger, closed: AbortSignal): Check =>
  withinAMinute({ check: "ledger" }, () => ledger.state(), messageOf, closed);

/** How long a refused key is not tried again: all workers share the sign-ins of a minute. */
const REFUSED_FOR_MS = 60_000;

/**
 * Whether the service has refused the last sign-in of an account, or its token and the sign-in after it. A service
 * that does not answer says nothing of that: the worker waits for it, as another one would. Another key is tried
 * as soon as there is one.
 */
export const signInCheck = (
  {
    options,
    runtime,
  }: { readonly options: Pick<ClientOptions, "apiKey">; readonly runtime: PaymentsRuntime },
  account: string | undefined,
  closed: AbortSignal,
): Check => {
  const found = { check: "signIn", ...(account !== undefined && { account }) } as const;
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
  return () =>
    refused === undefined ? { ...found, ok: true } : { ...found, ok: false, why: refused };
};
