import { loadClientConnectConfig } from "@temporalio/envconfig";
import { cannotConnect } from "../errors.ts";

/** How Temporal is reached, and where the worker polls. */
export interface TemporalSettings {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** TLS, API key and metadata; they hold secrets. */
  readonly connectionOptions: ReturnType<typeof loadClientConnectConfig>["connectionOptions"];
}

const whatIsWrong = (error: unknown): string => {
  // The library stumbles over a file without profiles.
  if (error instanceof TypeError) return "the file has no table [profile.default].";
  return error instanceof Error ? error.message : String(error);
};

/**
 * Reads Temporal's environment configuration: variables, and a profile of its configuration file.
 *
 * @throws CannotConnect where it is wrong
 */
export const temporalSettings = (): TemporalSettings => {
  const taskQueue = process.env["PAYMENTS_TASK_QUEUE"] || "payments";
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig();
    const address = connectionOptions.address || "localhost:7233";
    return { address, namespace: namespace || "default", taskQueue, connectionOptions };
  } catch (error) {
    throw cannotConnect(
      "CannotConnect",
      `Temporal's configuration (TEMPORAL_* or TEMPORAL_CONFIG_FILE) is wrong: ${whatIsWrong(error)}`,
    );
  }
};
