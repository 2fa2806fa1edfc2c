import type { RuntimeOptions } from "@temporalio/worker";
import { once } from "node:events";
import { createServer } from "node:net";

type MetricsExporter = NonNullable<NonNullable<RuntimeOptions["telemetryOptions"]>["metrics"]>;

const LOOPBACK = "127.0.0.1";

const freePort = async (): Promise<number> => {
  const server = createServer();
  await once(server.listen(0, LOOPBACK), "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
};

/**
 * Make the options by which the SDK shows its metrics on this machine, from where `/metrics` passes them on; undefined
 * where the worker listens nowhere.
 */
export const metricsExporterOf = async (
  environment: NodeJS.ProcessEnv,
): Promise<MetricsExporter | undefined> => {
  if ((environment["PAYMENTS_HEALTH_ADDRESS"] ?? "").trim() === "") return undefined;
  return {
    attachServiceName: false,
    prometheus: {
      bindAddress: `${LOOPBACK}:${await freePort()}`,
      countersTotalSuffix: true,
      unitSuffix: true,
      useSecondsForDurations: true,
    },
  };
};
