import {
  type ClientOptions,
  makePaymentsClient,
  NotAuthenticated,
} from "@durable-payments/api-core";
import { messageOf } from "@durable-payments/api-core/values";
import * as Result from "effect/Result";
import type { ServiceSettings } from "../connection/settings.ts";
import { type Check, failed, ok, skipped } from "./check.ts";
import { checkLists, LIST_CHECKS } from "./list-checks.ts";

const REQUEST_TIMEOUT_MS = 5_000;

const SIGN_IN = "sign-in";

const withoutLists = (reason: string): ReadonlyArray<Check> =>
  LIST_CHECKS.map((name) => skipped(name, reason));

/** One try each, so that the doctor answers soon. */
const pingAndRead = async (options: ClientOptions): Promise<ReadonlyArray<Check>> => {
  const client = makePaymentsClient({
    ...options,
    maxAttempts: 1,
    requestTimeoutMs: Math.min(REQUEST_TIMEOUT_MS, options.requestTimeoutMs),
  });
  try {
    await client.ping();
    return await checkLists(client, options.assumptions);
  } finally {
    await client.close();
  }
};

/** Check the settings of the client, and that the service lets it in. */
export const checkService = async (settings: ServiceSettings): Promise<ReadonlyArray<Check>> => {
  if (Result.isFailure(settings)) {
    return [
      failed(
        "client settings",
        settings.failure.message,
        "Set them in the environment, or in .env of a checkout, to the values that the worker uses.",
      ),
      skipped(SIGN_IN, "not checked: the settings are wrong"),
      skipped("ping", "not checked: the settings are wrong"),
      ...withoutLists("not checked: the settings are wrong"),
    ];
  }
  const { baseUrl } = settings.success;
  const known = ok("client settings", baseUrl);
  try {
    const lists = await pingAndRead(settings.success);
    return [
      known,
      ok(SIGN_IN, "the service accepts the credentials"),
      ok("ping", "pong"),
      ...lists,
    ];
  } catch (error) {
    return error instanceof NotAuthenticated
      ? [
          known,
          failed(
            SIGN_IN,
            error.message,
            "Set PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY to the account's credentials.",
          ),
          skipped("ping", "not checked: sign-in failed"),
          ...withoutLists("not checked: sign-in failed"),
        ]
      : [
          known,
          skipped(SIGN_IN, "not known: the service gave no answer"),
          failed("ping", messageOf(error), "Check PAYMENTS_BASE_URL, and that the service is up."),
          ...withoutLists("not known: the service gave no answer"),
        ];
  }
};
