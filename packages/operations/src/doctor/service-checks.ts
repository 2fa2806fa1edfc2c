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

/** A message about the settings of an account with a name, which has its own instead of these variables. */
const withItsOwnNames = (message: string): string =>
  message
    .replaceAll(/PAYMENTS_(?:CLIENT_ID|API_KEY) \((\w+)\)/g, "$1")
    .replaceAll("PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY", "clientId and apiKey");

/**
 * Check the settings of the client, and that the service lets it in.
 *
 * @param name of the account, where it has one: its settings stand in the file of accounts.
 */
export const checkService = async (
  settings: ServiceSettings,
  name?: string,
): Promise<ReadonlyArray<Check>> => {
  const ofAccount = `of the account ${name}, in the file that PAYMENTS_ACCOUNTS_FILE names,`;
  const worded = (message: string) => (name === undefined ? message : withItsOwnNames(message));
  if (Result.isFailure(settings)) {
    return [
      failed(
        "client settings",
        worded(settings.failure.message),
        name === undefined
          ? "Set them in the environment, or in .env of a checkout, to the values that the worker uses."
          : `Set them ${ofAccount} to the values that the worker uses.`,
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
            worded(error.message),
            name === undefined
              ? "Set PAYMENTS_CLIENT_ID and PAYMENTS_API_KEY to the account's credentials."
              : `Set clientId, and apiKey or apiKeyFile, ${ofAccount} to its credentials.`,
          ),
          skipped("ping", "not checked: sign-in failed"),
          ...withoutLists("not checked: sign-in failed"),
        ]
      : [
          known,
          skipped(SIGN_IN, "not known: the service gave no answer"),
          failed(
            "ping",
            messageOf(error),
            `Check ${name === undefined ? "PAYMENTS_BASE_URL" : `baseUrl ${ofAccount} or PAYMENTS_BASE_URL`}, and that the service is up.`,
          ),
          ...withoutLists("not known: the service gave no answer"),
        ];
  }
};
