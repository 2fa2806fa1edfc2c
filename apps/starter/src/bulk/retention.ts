import type { Temporal } from "../connection/temporal.ts";

/** How long Temporal remembers a payout, and so its key, after its end: the namespace's retention, in ms. */
export const readRetention = async ({ client, settings }: Temporal): Promise<number> => {
  const { config } = await client.workflowService.describeNamespace({
    namespace: settings.namespace,
  });
  return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) * 1000;
};
