import type { Temporal } from "./temporal.ts";

/**
 * Read how long Temporal remembers a run, and so its id, after its end.
 *
 * @param temporal the connection of `withTemporal`.
 * @returns the retention of the namespace, in milliseconds.
 */
export const readRetention = async ({ client, settings }: Temporal): Promise<number> => {
  const { config } = await client.workflowService.describeNamespace({
    namespace: settings.namespace,
  });
  return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) * 1000;
};
