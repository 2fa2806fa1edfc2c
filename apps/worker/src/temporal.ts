import type { SecondsUntilExpiry } from "@durable-payments/api-core/credentials";
import { messageOf } from "@durable-payments/api-core/values";
import { CannotStart, type PaymentsPlugin } from "@durable-payments/plugin";
import { isNotFound, temporalReason } from "@durable-payments/protocol";
import {
  readTemporalConfiguration,
  whyUnreachable,
} from "@durable-payments/protocol/temporal-connection";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import { NativeConnection } from "@temporalio/worker";
import { keepCredentials } from "./temporal-credentials.ts";

/** A connection to Temporal, and the namespace that the environment names. */
export interface Temporal {
  readonly connection: NativeConnection;
  readonly namespace: string;
  /** How long the credentials of the connection are still good, in seconds by their names. */
  readonly secondsUntilExpiry: () => SecondsUntilExpiry;
  readonly close: () => Promise<void>;
}

const configuration = () => {
  try {
    return readTemporalConfiguration(process.env, loadClientConnectConfig);
  } catch (error) {
    throw new CannotStart(
      `Temporal's configuration (TEMPORAL_* or TEMPORAL_CONFIG_FILE) is wrong: ${messageOf(error)}`,
    );
  }
};

/**
 * Connect to Temporal as the environment says.
 *
 * @param plugin of the workers that are created with the connection.
 * @throws CannotStart where nothing answers, or there is no such namespace.
 */
export const connect = async (plugin: PaymentsPlugin): Promise<Temporal> => {
  const { connectionOptions, namespace = "default" } = configuration();
  const address = connectionOptions.address ?? "localhost:7233";
  const connection = await NativeConnection.connect({
    ...connectionOptions,
    plugins: [plugin],
  }).catch(async (error: unknown) => {
    const why = await whyUnreachable({ address, tls: connectionOptions.tls });
    throw new CannotStart(
      `Cannot connect to Temporal at ${address} (TEMPORAL_ADDRESS): ${why ?? temporalReason(error)}.`,
    );
  });
  await connection.workflowService.describeNamespace({ namespace }).catch((error: unknown) => {
    throw new CannotStart(
      isNotFound(error)
        ? `Temporal at ${address} has no namespace "${namespace}" for this worker (TEMPORAL_NAMESPACE).`
        : `Temporal at ${address} does not say whether it has the namespace "${namespace}" (TEMPORAL_NAMESPACE): ${temporalReason(error)}. Check TEMPORAL_API_KEY or the certificate of TEMPORAL_TLS_*.`,
    );
  });
  const credentials = keepCredentials(connection, connectionOptions);
  return {
    connection,
    namespace,
    secondsUntilExpiry: credentials.secondsUntilExpiry,
    close: () => {
      credentials.stop();
      return connection.close();
    },
  };
};
