import { isNotFound } from "@durable-payments/protocol";
import { msToTs, optionalTsToMs } from "@temporalio/common/lib/time.js";
import { changing } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { LEAST_RETENTION_DAYS } from "./temporal-checks.ts";

const DAY_S = 86_400;

/** What is wrong with a namespace and can be corrected. */
export type NamespaceFix = "create" | "lengthenRetention" | "none";

/** Reads what can be corrected. */
export const planFix = async ({ client, settings }: Temporal): Promise<NamespaceFix> => {
  try {
    const { config } = await client.workflowService.describeNamespace({
      namespace: settings.namespace,
    });
    const kept = optionalTsToMs(config?.workflowExecutionRetentionTtl) ?? 0;
    return kept > 0 && kept < LEAST_RETENTION_DAYS * DAY_S * 1000 ? "lengthenRetention" : "none";
  } catch (error) {
    if (isNotFound(error)) return "create";
    throw error;
  }
};

/**
 * Creates the namespace, or has it keep runs for 30 days. Nothing else has to be registered. On Temporal Cloud its own
 * tools do this.
 *
 * @param fix what `planFix` returned.
 */
export const fixNamespace = async (temporal: Temporal, fix: NamespaceFix): Promise<void> => {
  const { client, settings } = temporal;
  const { namespace } = settings;
  const retention = msToTs(LEAST_RETENTION_DAYS * DAY_S * 1000);
  const about = {
    mayBe: `The namespace ${namespace} may have been changed`,
    next: { operation: "doctor" },
  } as const;
  await changing(temporal, about, async () => {
    if (fix === "create") {
      await client.workflowService.registerNamespace({
        namespace,
        workflowExecutionRetentionPeriod: retention,
      });
    }
    if (fix === "lengthenRetention") {
      await client.workflowService.updateNamespace({
        namespace,
        config: { workflowExecutionRetentionTtl: retention },
      });
    }
  });
};
