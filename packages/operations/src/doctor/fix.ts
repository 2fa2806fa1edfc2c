import { msToTs } from "@temporalio/common/lib/time.js";
import type { Temporal } from "../connection/temporal.ts";
import { changing } from "../connection/temporal-errors.ts";
import { LEAST_RETENTION_DAYS, readRetention } from "./temporal-checks.ts";

/** What is wrong with a namespace and can be corrected. */
export type NamespaceFix = "create" | "lengthenRetention" | "none";

/** Reads what can be corrected. */
export const planFix = async (temporal: Temporal): Promise<NamespaceFix> => {
  const days = await readRetention(temporal);
  if (days === undefined) return "create";
  return days > 0 && days < LEAST_RETENTION_DAYS ? "lengthenRetention" : "none";
};

/**
 * Creates the namespace, or has it keep runs for 30 days. Nothing else has to be registered. On Temporal Cloud its own
 * tools do this.
 *
 * @param fix what `planFix` returned.
 */
export const fixNamespace = async (temporal: Temporal, fix: NamespaceFix): Promise<void> => {
  const { namespace } = temporal.settings;
  const service = temporal.client.workflowService;
  const retention = msToTs(LEAST_RETENTION_DAYS * 86_400_000);
  const about = {
    mayBe: `The namespace ${namespace} may have been changed`,
    next: { operation: "doctor" },
  } as const;
  await changing(temporal, about, async () => {
    if (fix === "create")
      await service.registerNamespace({ namespace, workflowExecutionRetentionPeriod: retention });
    if (fix === "lengthenRetention") {
      const config = { workflowExecutionRetentionTtl: retention };
      await service.updateNamespace({ namespace, config });
    }
  });
};
