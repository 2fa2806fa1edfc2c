import {
  type ClientOptions,
  type InvalidSettings,
  makePaymentsClient,
  type PromiseClient,
} from "@durable-payments/api-core";
import type * as Result from "effect/Result";
import { InvalidDataConverter, readDataConverter } from "@durable-payments/codec";
import { messageOf } from "@durable-payments/api-core/values";
import { taskQueueOf } from "@durable-payments/protocol";
import type { DataConverter } from "@temporalio/common";
import { loadClientConnectConfig } from "@temporalio/envconfig";
import {
  readTemporalConfiguration,
  rereadApiKey,
} from "@durable-payments/protocol/temporal-connection";
import { connectionFailed } from "../errors.ts";

/** How Temporal is reached, and where the worker polls. */
export interface TemporalSettings {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** TLS, API key and metadata; they hold secrets. */
  readonly connectionOptions: ReturnType<typeof loadClientConnectConfig>["connectionOptions"];
  /** How payloads are encoded; left out where Temporal stores them as they are. */
  readonly dataConverter?: DataConverter;
  /** The API key as the file of `TEMPORAL_API_KEY_FILE` holds it now, where that is named. */
  readonly apiKey?: () => string;
  /** Address of the Web UI, by default that of a local dev server; without it no links are made. */
  readonly webUi?: string;
}

/** Where the dev server of Temporal's command line, started without options, has its Web UI. */
const localWebUi = (address: string): string | undefined =>
  /^(localhost|127\.0\.0\.1):7233$/.test(address) ? "http://localhost:8233" : undefined;

/**
 * Reads Temporal's environment configuration: variables, and a profile of its configuration file.
 *
 * @param environment variables by name: `TEMPORAL_*`, `TEMPORAL_API_KEY_FILE`, `PAYMENTS_TASK_QUEUE`, `TEMPORAL_UI_URL`, `PAYMENTS_KEYRING`,
 *   `PAYMENTS_DATA_CONVERTER`.
 * @throws ConnectionFailed where it is wrong.
 */
export const temporalSettings = (
  environment: Readonly<Record<string, string | undefined>>,
): TemporalSettings => {
  const overrideEnvVars = Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  );
  try {
    const { connectionOptions, namespace } = readTemporalConfiguration(environment, () =>
      loadClientConnectConfig({ overrideEnvVars }),
    );
    // A tool that is open for long learns of a new key; of a file that is gone, Temporal says more.
    const apiKey = rereadApiKey(environment, () => undefined);
    const address = connectionOptions.address || "localhost:7233";
    const webUi = environment["TEMPORAL_UI_URL"] || localWebUi(address);
    const dataConverter = readDataConverter(environment, namespace || "default");
    return {
      address,
      namespace: namespace || "default",
      taskQueue: taskQueueOf(environment["PAYMENTS_TASK_QUEUE"]),
      connectionOptions,
      ...(dataConverter !== undefined && { dataConverter }),
      ...(apiKey && { apiKey }),
      ...(webUi ? { webUi } : {}),
    };
  } catch (error) {
    throw connectionFailed(
      "cannotConnect",
      error instanceof InvalidDataConverter
        ? `${error.message}.`
        : `Temporal's configuration (TEMPORAL_* or TEMPORAL_CONFIG_FILE) is wrong: ${messageOf(error)}`,
    );
  }
};

/** The address of the service and the credentials of the account; or why they are not known here. */
export type ServiceSettings = Result.Result<ClientOptions, InvalidSettings>;

/** Asks the service something, with one try, so that the answer comes soon. */
export const askOnce = async <A>(
  options: ClientOptions,
  requestTimeoutMs: number,
  ask: (client: PromiseClient) => Promise<A>,
): Promise<A> => {
  const client = makePaymentsClient({ ...options, maxAttempts: 1, requestTimeoutMs });
  try {
    return await ask(client);
  } finally {
    await client.close();
  }
};
