import { makePaymentsClient, NotAuthenticated } from "@durable-payments/api-core";
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

const CREDENTIALS =
  "Set PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY (of a named account: its entry in PAYMENTS_ACCOUNTS_FILE) to the account's credentials.";

/** Checks the settings of the client, that the service answers, and that it accepts the credentials. */
export const checkService = async (settings: ServiceSettings): Promise<ReadonlyArray<Check>> => {
  if (Result.isFailure(settings)) {
    const remedy = "Give this command the PAYMENTS_* settings of the worker.";
    return [
      failed(SERVICE, settings.failure.message, remedy),
      skipped(SIGN_IN, "not checked: the settings are wrong"),
    ];
  }
  const { baseUrl } = settings.success;
  // One try, so that the doctor answers soon.
  const once = { maxAttempts: 1, requestTimeoutMs: ANSWER_WITHIN_MS };
  const client = makePaymentsClient({ ...settings.success, ...once });
  const begun = performance.now();
  try {
    await client.ping();
    const took = performance.now() - begun;
    return [answeredIn(baseUrl, took), ok(SIGN_IN, "the service accepts the credentials")];
  } catch (error) {
    if (error instanceof NotAuthenticated)
      return [ok(SERVICE, `${baseUrl} answers`), failed(SIGN_IN, messageOf(error), CREDENTIALS)];
    return [
      failed(SERVICE, messageOf(error), "Payments wait until it answers. Check PAYMENTS_BASE_URL."),
      skipped(SIGN_IN, "not known: the service gave no answer"),
    ];
  } finally {
    await client.close();
  }
};
