import { Runtime } from "@temporalio/worker";

const ANSWERED_WITHIN_MS = 3_000;

/**
 * Read the metrics of the SDK's core, and those that workflows record: as its own exporter shows them, where the Runtime
 * of this process has one for Prometheus.
 *
 * @returns Prometheus' text; empty where there is no such exporter.
 */
export const readSdkMetrics = async (): Promise<string> => {
  const { metricsExporter } = Runtime.instance().options.runtimeOptions;
  if (metricsExporter?.type !== "prometheus") return "";
  const response = await fetch(
    `http://${metricsExporter.socketAddr.replace("0.0.0.0", "127.0.0.1")}/metrics`,
    { signal: AbortSignal.timeout(ANSWERED_WITHIN_MS) },
  );
  return response.text();
};
