import { Client, Connection } from "@temporalio/client";
import { cannotConnect } from "../errors.ts";
import { type TemporalSettings, temporalSettings } from "./settings.ts";
import { asTemporalError } from "./temporal-errors.ts";

const CONNECT_TIMEOUT_MS = 5_000;

/** A connection to Temporal. */
export interface Temporal {
  readonly client: Client;
  readonly connection: Connection;
  readonly settings: TemporalSettings;
}

const whyNot = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const message = cause instanceof Error ? cause.message : String(cause);
  return message === "Failed to connect before the deadline"
    ? `nothing answers there within ${CONNECT_TIMEOUT_MS / 1000} s`
    : message;
};

const connect = async (settings: TemporalSettings): Promise<Connection> => {
  try {
    return await Connection.connect({
      ...settings.connectionOptions,
      address: settings.address,
      connectTimeout: CONNECT_TIMEOUT_MS,
    });
  } catch (error) {
    throw cannotConnect(
      "CannotConnect",
      `Cannot connect to Temporal at ${settings.address} (TEMPORAL_ADDRESS): ${whyNot(error)}. Is it running? \`npm run dev\` starts one on this machine.`,
    );
  }
};

/**
 * Connects to Temporal, and closes the connection afterwards.
 *
 * @throws CannotConnect within about five seconds
 */
export const withTemporal = async <A>(use: (temporal: Temporal) => Promise<A>): Promise<A> => {
  const settings = temporalSettings();
  const connection = await connect(settings);
  try {
    const client = new Client({ connection, namespace: settings.namespace });
    return await use({ client, connection, settings });
  } catch (error) {
    throw asTemporalError(error, settings);
  } finally {
    await connection.close();
  }
};
