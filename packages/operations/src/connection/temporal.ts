import { messageOf } from "@durable-payments/api-core/values";
import { Client, Connection } from "@temporalio/client";
import { ConnectionFailed } from "../errors.ts";
import { asTemporalError } from "./temporal-errors.ts";
import type { TemporalSettings } from "./settings.ts";

const CONNECT_TIMEOUT_MS = 5_000;

/** A connection to Temporal. */
export interface Temporal {
  readonly client: Client;
  readonly connection: Connection;
  readonly settings: TemporalSettings;
}

const whyNot = (error: unknown): string => {
  const message = messageOf(
    error instanceof Error && error.cause instanceof Error ? error.cause : error,
  );
  return message === "Failed to connect before the deadline"
    ? `nothing answers there within ${CONNECT_TIMEOUT_MS / 1000} s`
    : message;
};

const open = async (settings: TemporalSettings): Promise<Connection> => {
  try {
    return await Connection.connect({
      ...settings.connectionOptions,
      address: settings.address,
      connectTimeout: CONNECT_TIMEOUT_MS,
    });
  } catch (error) {
    throw new ConnectionFailed({
      reason: "cannotConnect",
      message: `Cannot connect to Temporal at ${settings.address} (TEMPORAL_ADDRESS): ${whyNot(error)}. Is it running?`,
      next: { operation: "startServer" },
    });
  }
};

/**
 * Connect to Temporal, and keep the connection: for a tool that is open for long. Close it with
 * `temporal.connection.close()`.
 *
 * @param settings what `temporalSettings` returns.
 * @returns the connection; work on it by `onTemporal`.
 * @throws ConnectionFailed within about five seconds.
 * @example
 * const temporal = await connectTemporal(temporalSettings(process.env));
 * const report = await onTemporal(temporal, (kept) => reportRun(kept, "invoice-2026-001"));
 */
export const connectTemporal = async (settings: TemporalSettings): Promise<Temporal> => {
  const connection = await open(settings);
  const client = new Client({ connection, namespace: settings.namespace });
  return { client, connection, settings };
};

/**
 * Do something on a kept connection, and word what Temporal answers as `withTemporal` does.
 *
 * @param temporal what `connectTemporal` returns.
 * @param use what is done with the connection.
 * @returns what `use` returns.
 * @throws what `use` throws; ConnectionFailed for any error of Temporal.
 */
export const onTemporal = async <A>(
  temporal: Temporal,
  use: (temporal: Temporal) => Promise<A>,
): Promise<A> => {
  try {
    return await use(temporal);
  } catch (error) {
    throw asTemporalError(error, temporal.settings);
  }
};

/**
 * Connect to Temporal, do something, and close the connection.
 *
 * @param settings what `temporalSettings` returns.
 * @param use what is done with the connection.
 * @returns what `use` returns.
 * @throws what `use` throws; ConnectionFailed for any error of Temporal, where it cannot be reached within
 *   about five seconds.
 * @example
 * const report = await withTemporal(temporalSettings(process.env), (temporal) =>
 *   reportRun(temporal, "invoice-2026-001"),
 * );
 */
export const withTemporal = async <A>(
  settings: TemporalSettings,
  use: (temporal: Temporal) => Promise<A>,
): Promise<A> => {
  const temporal = await connectTemporal(settings);
  try {
    return await onTemporal(temporal, use);
  } finally {
    await temporal.connection.close();
  }
};
