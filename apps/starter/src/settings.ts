import type {
  JournalSettings,
  ServiceSettings,
  Temporal,
  TemporalSettings,
} from "@durable-payments/operations/connection";
import type { Assumptions } from "@durable-payments/api-core";

// What the operations take as parameters, the command line takes from the environment. Each is loaded
// when a command needs it.

/**
 * Read how Temporal is reached.
 *
 * @throws ConnectionFailed where its configuration is wrong.
 */
const readTemporalSettings = async (): Promise<TemporalSettings> => {
  const { temporalSettings } = await import("@durable-payments/operations/connection");
  return temporalSettings(process.env);
};

/**
 * Connect to Temporal, do something, and close the connection.
 *
 * @throws ConnectionFailed within about five seconds.
 */
export const withTemporal = async <A>(use: (temporal: Temporal) => Promise<A>): Promise<A> => {
  const { withTemporal } = await import("@durable-payments/operations/connection");
  return withTemporal(await readTemporalSettings(), use);
};

/** Read whose journal of sends it is, and where. */
export const journalSettings = (): JournalSettings => ({
  clientId: process.env["PAYMENTS_CLIENT_ID"],
  journal: process.env["PAYMENTS_JOURNAL"],
});

/** Read the service's address and the account's credentials, or why they are wrong. */
export const readServiceSettings = async (): Promise<ServiceSettings> => {
  const { clientOptionsFromEnvironment } = await import("@durable-payments/api-core");
  const { result, runPromise } = await import("effect/Effect");
  return runPromise(result(clientOptionsFromEnvironment));
};

/**
 * Read what is assumed where the service's document is silent, as the worker does.
 *
 * @throws InvalidInput where the setting is wrong.
 */
export const readAssumptions = async (): Promise<Assumptions> => {
  const { readAssumptions } = await import("@durable-payments/operations/input");
  return readAssumptions(process.env["PAYMENTS_ASSUMPTIONS"]);
};
