import {
  type ActivitiesOptions,
  makePaymentsActivities,
  type PaymentsActivities,
} from "@durable-payments/activities";
import {
  type ClientSettings,
  makePaymentsClient,
  PaymentsClient,
  type PromiseClient,
} from "@durable-payments/api-core";
import { type Simulator, type SimulatorOptions, startSimulator } from "@durable-payments/simulator";
import { ManagedRuntime } from "effect";

/** A simulated service, and real activities over it. */
export interface Service {
  readonly simulator: Simulator;
  readonly activities: PaymentsActivities;
  /** A client of it, to make beforehand what a run is to find. */
  readonly client: PromiseClient;
  /** Activities over an address where nothing listens. */
  readonly unreachable: PaymentsActivities;
  /** How often the operation was asked for so far. */
  readonly requests: (operation: string) => Promise<number>;
  readonly stop: () => Promise<void>;
}

const activitiesOver = (settings: ClientSettings, options: ActivitiesOptions) => {
  const runtime = ManagedRuntime.make(PaymentsClient.layer({ maxAttempts: 1, ...settings }));
  return {
    activities: makePaymentsActivities(runtime, options),
    close: () => runtime.dispose(),
  };
};

/**
 * Starts a service in which nothing happens by itself: no payout settles, no check ends. Sends are
 * never paused, unless the activities' options say otherwise.
 */
export const startService = async (
  options: SimulatorOptions = {},
  settings: Partial<ClientSettings> = {},
  activitiesOptions: ActivitiesOptions = { readPause: async () => undefined },
): Promise<Service> => {
  const simulator = await startSimulator({
    settleAfter: Infinity,
    verifyAfter: Infinity,
    ...options,
  });
  const { apiKey, clientId, url: baseUrl } = simulator;
  const reachable = activitiesOver({ apiKey, clientId, baseUrl, ...settings }, activitiesOptions);
  const client = makePaymentsClient({ apiKey, clientId, baseUrl });
  // Port 1 is reserved, and nothing listens on it.
  const unreachable = activitiesOver(
    { apiKey, clientId, baseUrl: "http://127.0.0.1:1" },
    activitiesOptions,
  );
  return {
    simulator,
    activities: reachable.activities,
    client,
    unreachable: unreachable.activities,
    requests: async (operation) => (await simulator.state()).requests[operation] ?? 0,
    stop: async () => {
      await client.close();
      await reachable.close();
      await unreachable.close();
      await simulator.stop();
    },
  };
};
