import { isExecutionMissing } from "@durable-payments/activities/missing-execution";
import {
  runsOfIdQuery,
  type Settlement,
  SETTLEMENT_TYPE,
  settlementId,
  settlementQueue,
} from "@durable-payments/protocol";
import {
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
} from "@temporalio/client";
import * as Result from "effect/Result";
import { expectKeys } from "../connection/expect-keys.ts";
import { changing } from "../connection/changing.ts";
import type { Temporal } from "../connection/temporal.ts";
import { refused } from "../errors.ts";
import { decodedIfReadable } from "./events.ts";

/** A settlement that was kept, and when: milliseconds since 1970. */
export type KeptSettlement = Settlement & { readonly at: number };

interface StoredSettlement {
  /** The execution that keeps it. */
  readonly keptBy: string;
  readonly settlement: KeptSettlement;
}

const readStored = async (
  { client }: Temporal,
  execution: { readonly workflowId: string; readonly runId?: string },
): Promise<StoredSettlement | undefined> => {
  try {
    const { history } = await client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution,
      maximumPageSize: 1,
    });
    const [started] = history?.events ?? [];
    const { input, originalExecutionRunId, workflowType } =
      started?.workflowExecutionStartedEventAttributes ?? {};
    // Anybody may start something else under its id, which settles nothing.
    if (workflowType?.name !== SETTLEMENT_TYPE) return undefined;
    const kept = decodedIfReadable(input?.payloads?.[0]);
    const at = Number(started?.eventTime?.seconds ?? 0) * 1000;
    // Few runs have one: what checks it is loaded where one does.
    const { readSettlement } = await import("./read-settlement.ts");
    const settlement = Result.getOrUndefined(readSettlement(kept));
    // Anybody may have written it: what is in no such shape, or of another step, settles nothing.
    if (settlement === undefined || !execution.workflowId.endsWith(`/${settlement.step}`)) {
      return undefined;
    }
    return { keptBy: originalExecutionRunId ?? "", settlement: { ...settlement, at } };
  } catch (error) {
    if (isExecutionMissing(error)) return undefined;
    throw error;
  }
};

/** What was settled last of a step of a run, if it was. */
export const readSettlement = async (
  temporal: Temporal,
  runId: string,
  step: string,
): Promise<KeptSettlement | undefined> =>
  (await readStored(temporal, { workflowId: settlementId(runId, step) }))?.settlement;

/** All that was settled of a step of a run, with what a later one corrected, in no order. */
export const readSettlements = async (
  temporal: Temporal,
  runId: string,
  step: string,
): Promise<ReadonlyArray<KeptSettlement>> => {
  const workflowId = settlementId(runId, step);
  const latest = await readStored(temporal, { workflowId });
  if (latest === undefined) return [];
  const all = new Map([[latest.keptBy, latest.settlement]]);
  for await (const kept of temporal.client.workflow.list({ query: runsOfIdQuery(workflowId) })) {
    if (kept.workflowId !== workflowId || all.has(kept.runId)) continue;
    const stored = await readStored(temporal, { workflowId, runId: kept.runId });
    if (stored !== undefined) all.set(stored.keptBy, stored.settlement);
  }
  return [...all.values()];
};

/**
 * Keep what a person found out, as the input of a workflow that no worker takes: so it needs nothing
 * but Temporal, and lasts at least as long as the run that it is about. A later one of the same step
 * corrects an earlier one.
 *
 * @throws Refused where another of the same step is under way.
 */
export const keepSettlement = async (
  temporal: Temporal,
  { runId, taskQueue, workflowId }: WorkflowExecutionDescription,
  settlement: Settlement,
): Promise<void> => {
  const { client } = temporal;
  const { by, found, reason, step } = settlement;
  const id = settlementId(runId, step);
  const about = {
    mayBe: `It may have been recorded for ${workflowId}`,
    next: { operation: "audit", workflowId },
  } as const;
  await expectKeys(temporal);
  const handle = changing(temporal, about, () =>
    client.workflow.start(SETTLEMENT_TYPE, {
      workflowId: id,
      // Polled by nobody.
      taskQueue: settlementQueue(taskQueue),
      args: [settlement],
      workflowIdReusePolicy: "ALLOW_DUPLICATE",
      workflowIdConflictPolicy: "FAIL",
      workflowExecutionTimeout: "1 minute",
      staticSummary: `${by} settled ${step} of ${workflowId}: ${found === undefined ? "not carried out" : "carried out"}`,
      staticDetails:
        "Keeps what a person has found out about a send, for a retry, and does nothing. It times out after a minute: that is no failure. docs/repair.md",
    }),
  );
  const kept = await handle.catch((error: unknown) => {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    throw refused(
      `${step} of ${workflowId} is being settled by somebody else, or was a moment ago, or something else has the id ${id}. Nothing was done.`,
      { operation: "audit", workflowId },
    );
  });
  try {
    await changing(temporal, about, () => kept.terminate(reason));
  } catch (error) {
    // It is kept, and has ended by its timeout.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
};
