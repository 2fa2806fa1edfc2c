import { messageOf } from "@durable-payments/api-core/values";
import type { SecondsUntilExpiry } from "@durable-payments/api-core/credentials";
import { CannotStart } from "@durable-payments/plugin";
import {
  rereadApiKey,
  temporalSecondsUntilExpiry,
  watchTlsFiles,
} from "@durable-payments/protocol/temporal-connection";
import { type NativeConnection, type NativeConnectionOptions, Runtime } from "@temporalio/worker";

/** The credentials of a connection to Temporal while it is open. */
interface KeptCredentials {
  /** How long they are still good, in seconds by their names. */
  readonly secondsUntilExpiry: () => SecondsUntilExpiry;
  readonly stop: () => void;
}

const LOOK_EVERY_MS = 1000;

/**
 * Keep the API key of a connection as the file of `TEMPORAL_API_KEY_FILE` has it: what is asked of Temporal from then on
 * is asked with it, and polls that wait end with the one before. Certificates cannot be changed on a connection: that
 * their files have changed is logged once. (The SDK can replace the connection of a worker, `worker.connection = …`; but in
 * 1.24 polls that wait go on over the one before for good, though it be refused by then.)
 *
 * @param options what the connection was opened with.
 * @throws CannotStart where the file has no key.
 */
export const keepCredentials = (
  connection: NativeConnection,
  { apiKey: given, tls }: Pick<NativeConnectionOptions, "apiKey" | "tls">,
): KeptCredentials => {
  const { logger } = Runtime.instance();
  const { apiKey, haveTlsFilesChanged } = watched((message) => void logger.warn(message));
  let used = given;
  let isTold = false;
  const look = setInterval(() => {
    const now = apiKey?.();
    if (now !== undefined && now !== used) {
      used = now;
      void connection.setApiKey(now);
    }
    if (!isTold && haveTlsFilesChanged()) {
      isTold = true;
      logger.warn(
        "The files of TEMPORAL_TLS_* have changed. The connection to Temporal keeps the certificates that it was opened with: restart this worker before they expire.",
      );
    }
  }, LOOK_EVERY_MS);
  look.unref();
  return {
    secondsUntilExpiry: () =>
      temporalSecondsUntilExpiry({ ...(used !== undefined && { apiKey: used }), tls: tls ?? null }),
    stop: () => clearInterval(look),
  };
};

const watched = (warn: (message: string) => void) => {
  try {
    return {
      apiKey: rereadApiKey(process.env, warn),
      haveTlsFilesChanged: watchTlsFiles(process.env),
    };
  } catch (error) {
    throw new CannotStart(messageOf(error));
  }
};
