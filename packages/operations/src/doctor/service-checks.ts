import {
  type ClientOptions,
  makePaymentsClient,
  NotAuthenticated,
} from "@durable-payments/api-core";
import { messageOf } from "@durable-payments/api-core/values";
import * as Result from "effect/Result";
import type { ServiceSettings } from "../connection/settings.ts";
import { type Check, failed, ok, skipped, warning } from "./check.ts";

/** A service that answers later than this is slow; it is down only where it does not answer. */
const SLOW_MS = 5_000;

/** How long an answer is waited for. Writes wait as long as the worker's own time-out says. */
const ANSWER_WITHIN_MS = 30_000;

const SERVICE = "service";
const SIGN_IN = "sign-in";

/** Judges how long the service took to answer a ping: slow is not down. */
export const answeredIn = (baseUrl: string, milliseconds: number): Check => {
  const answered = `${baseUrl} answers in ${Math.round(milliseconds)} ms`;
  return milliseconds > SLOW_MS
    ? warning(SERVICE, `slow: ${answered}`, "Payments wait for it; nothing is lost.")
    : ok(SERVICE, answered);
};

const pinged = async (options: ClientOptions): Promise<ReadonlyArray<Check>> => {
  // One try, so that the doctor answers soon.
  const client = makePaymentsClient({
    ...options,
    maxAttempts: 1,
    requestTimeoutMs: ANSWER_WITHIN_MS,
  });
  const { baseUrl } = options;
  const begun = performance.now();
  try {
    await client.ping();
    return [
      answeredIn(baseUrl, performance.now() - begun),
      ok(SIGN_IN, "the service accepts the credentials"),
    ];
  } catch (error) {
    if (error instanceof NotAuthenticated) {
      return [ok(SERVICE, `${baseUrl} answers`), failed(SIGN_IN, messageOf(error), CREDENTIALS)];
    }
    return [
      failed(SERVICE, messageOf(error), "Payments wait until it answers. Check PAYMENTS_BASE_URL."),
      skipped(SIGN_IN, "not known: the service gave no answer"),
    ];
  } finally {
    await client.close();
  }
};

const CREDENTIALS =
  "Set PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY (of a named account: its entry in PAYMENTS_ACCOUNTS_FILE) to the account's credentials.";

/** Checks the settings of the client, that the service answers, and that it accepts the credentials. */
export const checkService = async (settings: ServiceSettings): Promise<ReadonlyArray<Check>> =>
  Result.isFailure(settings)
    ? [
        failed(
          SERVICE,
          settings.failure.message,
          "Give this command the PAYMENTS_* settings of the worker.",
        ),
        skipped(SIGN_IN, "not checked: the settings are wrong"),
      ]
    : pinged(settings.success);
