import { isEncrypted } from "@durable-payments/activities/readable-payloads";
import { queryTexts, WORKFLOW } from "@durable-payments/protocol";
import { isGrpcServiceError } from "@temporalio/client";
import { refused } from "../errors.ts";
import type { Temporal } from "./temporal.ts";

const OURS = [WORKFLOW.payout, WORKFLOW.onboardCardholder, WORKFLOW.payoutBatch];

/** Connections whose namespace was looked at. */
const looked = new WeakMap<Temporal, Promise<void>>();

/** How long is waited for visibility, which can be done without. */
const VISIBILITY_WITHIN_MS = 1_000;

const latestMemo = async ({ client }: Temporal) => {
  try {
    const { executions } = await client.withDeadline(Date.now() + VISIBILITY_WITHIN_MS, () =>
      client.workflowService.listWorkflowExecutions({
        namespace: client.options.namespace,
        query: `WorkflowType IN ${queryTexts(OURS)}`,
        pageSize: 1,
      }),
    );
    return executions[0]?.memo?.fields ?? {};
  } catch (error) {
    // Temporal takes a start without its visibility; where Temporal itself is down, the start says so.
    if (isGrpcServiceError(error)) return {};
    throw error;
  }
};

const look = async (temporal: Temporal): Promise<void> => {
  const { payment, startedBy } = await latestMemo(temporal);
  // What else a memo holds, anybody may have written.
  if (![payment, startedBy].some((written) => written && isEncrypted(written))) return;
  throw refused(
    "What this namespace stores is encrypted, and no keys are given here (PAYMENTS_KEYRING): what is started would be stored in plain text. Give the keys that the workers have. Nothing was done.",
  );
};

/**
 * Expect that what is written is encrypted where the latest run is: Temporal keeps even the input of a start that it
 * refuses. Without keys it looks once for each connection, where visibility answers.
 *
 * @throws Refused where keys are missing here
 */
export const expectKeys = (temporal: Temporal): Promise<void> => {
  if (temporal.settings.dataConverter !== undefined) return Promise.resolve();
  const looking = looked.get(temporal) ?? look(temporal);
  looked.set(temporal, looking);
  return looking;
};
