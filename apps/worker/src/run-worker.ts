import { readDataConverter } from "@durable-payments/codec";
import { PaymentsPlugin, type Polling } from "@durable-payments/plugin";
import { loggingOf, orCannotStart, showTemporalExpiry } from "@durable-payments/plugin/internal";
import { taskQueueOf } from "@durable-payments/protocol";
import { Runtime, Worker } from "@temporalio/worker";
import { once } from "node:events";
import { createServer } from "node:net";
import { readSettings, type Settings } from "@durable-payments/protocol/settings";
import { connect } from "./temporal.ts";
import { bundleFor } from "./prebuilt-bundle.ts";

const LOOPBACK = "127.0.0.1";

const freePort = async (): Promise<number> => {
  const server = createServer();
  await once(server.listen(0, LOOPBACK), "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
};

/** The SDK exports its metrics on this machine; `/metrics` of the worker passes them on. */
const metricsOf = async ({ healthAddress }: Settings) =>
  healthAddress !== undefined && {
    metrics: {
      attachServiceName: false,
      prometheus: {
        bindAddress: `${LOOPBACK}:${await freePort()}`,
        countersTotalSuffix: true,
        unitSuffix: true,
        useSecondsForDurations: true,
      },
    },
  };

const installRuntime = async (settings: Settings): Promise<Runtime> => {
  const { logger, logging } = loggingOf(settings);
  const metrics = await metricsOf(settings);
  const runtime = Runtime.install({ logger, telemetryOptions: { logging, ...metrics } });
  // It holds lines for 100 ms, to sort them by their time.
  process.once("exit", () => runtime.flushLogs());
  return runtime;
};

/**
 * Runs a worker until SIGTERM or SIGINT. Then it takes no more work, finishes its present work within 30 seconds (later
 * activities are cancelled), and returns.
 *
 * @throws CannotStart
 */
export const runWorker = async (onReady: (polling: Polling) => void): Promise<void> => {
  const settings = orCannotStart(() => readSettings(process.env));
  const runtime = await installRuntime(settings);
  try {
    const temporal = await connect(new PaymentsPlugin({ onReady }), settings);
    showTemporalExpiry(temporal.secondsUntilExpiry);
    try {
      const { connection, namespace } = temporal;
      const dataConverter = orCannotStart(() => readDataConverter(settings, namespace));
      const bundle = await bundleFor(dataConverter);
      const worker = await Worker.create({
        connection,
        namespace,
        taskQueue: taskQueueOf(settings.taskQueue),
        ...(dataConverter && { dataConverter }),
        ...(bundle && { workflowBundle: bundle }),
        shutdownForceTime: "1 minute",
      });
      await worker.run();
    } finally {
      await temporal.close();
    }
  } finally {
    // If no worker ran, it would read the core's log forever and keep the process alive.
    await runtime.shutdown();
  }
};
