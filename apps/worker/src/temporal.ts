import { CannotStart, type PaymentsPlugin } from "@durable-payments/plugin";
import { orCannotStart } from "@durable-payments/plugin/internal";
import { isNamespaceMissing, temporalReason } from "@durable-payments/protocol";
import {
  readTemporalConfiguration,
  rereadApiKey,
  temporalSecondsUntilExpiry,
  whyUnreachable,
} from "@durable-payments/protocol/temporal-connection";
import type { Settings } from "@durable-payments/protocol/settings";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { NativeConnection, type NativeConnectionOptions, Runtime } from "@temporalio/worker";

const LOOK_EVERY_MS = 1000;

/** Keeps the API key of a connection equal to the file of `TEMPORAL_API_KEY_FILE`. */
const keepCredentials = (
  connection: NativeConnection,
  { apiKey: given, tls }: Pick<NativeConnectionOptions, "apiKey" | "tls">,
) => {
  const warn = (message: string) => void Runtime.instance().logger.warn(message);
  const apiKey = orCannotStart(() => rereadApiKey(process.env, warn));
  let used = given;
  const look = setInterval(() => {
    const now = apiKey?.();
    if (now === undefined || now === used) return;
    used = now;
    void connection.setApiKey(now);
  }, LOOK_EVERY_MS);
  look.unref();
  return {
    secondsUntilExpiry: () =>
      temporalSecondsUntilExpiry({ ...(used !== undefined && { apiKey: used }), tls: tls ?? null }),
    stop: () => clearInterval(look),
  };
};

/**
 * Connects to Temporal, with the namespace that the environment names, for workers that have the plugin.
 *
 * @returns the connection, and the remaining life of its credentials, in seconds by name.
 * @throws CannotStart if nothing answers, or the namespace does not exist.
 */
export const connect = async (plugin: PaymentsPlugin, settings: Settings) => {
  const { connectionOptions, namespace = "default" } = orCannotStart(
    () => readTemporalConfiguration(process.env, loadClientConnectConfig, settings),
    "Temporal's configuration (TEMPORAL_* or TEMPORAL_CONFIG_FILE) is invalid: ",
  );
  const address = connectionOptions.address ?? "localhost:7233";
  const connection = await NativeConnection.connect({
    ...connectionOptions,
    plugins: [plugin],
  }).catch(async (error: unknown) => {
    const why = await whyUnreachable({ address, tls: connectionOptions.tls });
    throw new CannotStart(
      `Cannot connect to Temporal at ${address} (TEMPORAL_ADDRESS): ${why ?? `${temporalReason(error)}. Check TEMPORAL_TLS_* and TEMPORAL_API_KEY, and that the port is Temporal's, 7233 by default`}.`,
    );
  });
  await connection.workflowService.describeNamespace({ namespace }).catch((error: unknown) => {
    throw new CannotStart(
      isNamespaceMissing(error)
        ? `Temporal at ${address} has no namespace "${namespace}" for this worker (TEMPORAL_NAMESPACE).`
        : `Temporal at ${address} does not say whether it has the namespace "${namespace}" (TEMPORAL_NAMESPACE): ${temporalReason(error)}. Check TEMPORAL_API_KEY or the certificate of TEMPORAL_TLS_*.`,
    );
  });
  const { secondsUntilExpiry, stop } = keepCredentials(connection, connectionOptions);
  return {
    connection,
    namespace,
    secondsUntilExpiry,
    close: () => {
      stop();
      return connection.close();
    },
  };
};
