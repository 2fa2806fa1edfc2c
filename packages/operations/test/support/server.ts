import { createLocalEnvironment } from "@durable-payments/tools/testing";
import { afterAll } from "vitest";
import { temporalSettings } from "../../src/connection/settings.ts";
import { type Temporal, withTemporal } from "../../src/connection/temporal.ts";

/** A Temporal server without workers, for the tests of one file. */
export const startServer = async () => {
  const environment = await createLocalEnvironment();
  afterAll(() => environment.teardown());
  const { workflow } = environment.client;
  return {
    address: environment.address,
    workflow,
    /** Do something with a connection as a tool has it. */
    connected: <A>(use: (temporal: Temporal) => Promise<A>): Promise<A> =>
      withTemporal(temporalSettings({ TEMPORAL_ADDRESS: environment.address }), use),
    /** Start a run that no worker takes up. */
    begin: (workflowId: string) =>
      workflow.start("payout", { workflowId, taskQueue: "payments", args: [{}] }),
  };
};
