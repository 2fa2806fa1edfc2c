import { isEncrypted } from "@durable-payments/activities/readable-payloads";
import { queryTexts, WORKFLOW } from "@durable-payments/protocol";
import { refused } from "../errors.ts";
import type { Temporal } from "./temporal.ts";

const OURS = [WORKFLOW.payout, WORKFLOW.onboardCardholder, WORKFLOW.payoutBatch];

/** Connections whose namespace was looked at. */
const looked = new WeakMap<Temporal, Promise<void>>();

const look = async ({ client }: Temporal): Promise<void> => {
  const { executions } = await client.workflowService.listWorkflowExecutions({
    namespace: client.options.namespace,
    query: `WorkflowType IN ${queryTexts(OURS)}`,
    pageSize: 1,
  });
  if (!Object.values(executions[0]?.memo?.fields ?? {}).some(isEncrypted)) return;
  throw refused(
    "What this namespace stores is encrypted, and no keys are given here (PAYMENTS_KEYRING): what is started would be stored in plain text. Give the keys that the workers have. Nothing was done.",
  );
};

/**
 * Expect that what is written is encrypted where the latest run is: Temporal keeps even the input of a start that it
 * refuses. Without keys it looks once for each connection.
 *
 * @throws Refused where keys are missing here
 */
export const expectKeys = (temporal: Temporal): Promise<void> => {
  if (temporal.settings.dataConverter !== undefined) return Promise.resolve();
  const looking = looked.get(temporal) ?? look(temporal);
  looked.set(temporal, looking);
  return looking;
};
