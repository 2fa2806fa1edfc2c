import {
  type ClientOptions,
  clientOptionsFromEnvironment,
  type InvalidSettings,
  makePaymentsClient,
  NotAuthenticated,
} from "@durable-payments/api-core";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { type Check, failed, messageOf, ok, skipped } from "./check.ts";

const REQUEST_TIMEOUT_MS = 5_000;

const SIGN_IN = "sign-in";

/** One try, so that the doctor answers soon. */
const ping = async (options: ClientOptions): Promise<void> => {
  const client = makePaymentsClient({
    ...options,
    maxAttempts: 1,
    requestTimeoutMs: Math.min(REQUEST_TIMEOUT_MS, options.requestTimeoutMs),
  });
  try {
    await client.ping();
  } finally {
    await client.close();
  }
};

/** Checks the settings of the client, and that the service lets it in. */
export const checkService = async (): Promise<ReadonlyArray<Check>> => {
  const settings: Result.Result<ClientOptions, InvalidSettings> = await Effect.runPromise(
    Effect.result(clientOptionsFromEnvironment),
  );
  if (Result.isFailure(settings)) {
    return [
      failed(
        "client settings",
        settings.failure.message,
        "Set them as .env.example says, to what the worker uses.",
      ),
      skipped(SIGN_IN, "not checked: the settings are wrong"),
      skipped("ping", "not checked: the settings are wrong"),
    ];
  }
  const { baseUrl } = settings.success;
  const known = ok("client settings", baseUrl);
  try {
    await ping(settings.success);
    return [known, ok(SIGN_IN, "the service accepts the credentials"), ok("ping", "pong")];
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
        ]
      : [
          known,
          skipped(SIGN_IN, "not known: the service gave no answer"),
          failed("ping", messageOf(error), "Check PAYMENTS_BASE_URL, and that the service is up."),
        ];
  }
};
