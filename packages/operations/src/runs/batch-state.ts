import {
  batchId,
  cancelBatchUpdate,
  type GivenCommand,
  pauseBatchUpdate,
  resumeBatchUpdate,
  textAt,
  WORKFLOW,
} from "@durable-payments/protocol";
import { isRecord } from "@durable-payments/api-core/values";
import type { History } from "@temporalio/common/lib/proto-utils.js";
import type { Temporal } from "../connection/temporal.ts";
import { readCloseEvent } from "../history/close-event.ts";
import { decodedIfReadable, timeOf } from "../history/events.ts";
import { type Described, isOpenState, type StateName, stateNameOf } from "./state-name.ts";

/** What people have commanded a batch. */
interface BatchCommands {
  readonly paused?: GivenCommand;
  readonly cancelled?: GivenCommand;
}

/** The commands in force, by the history of the latest run of a batch. */
const commandsIn = ({ events }: History): BatchCommands => {
  const started = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  const input = decodedIfReadable(started);
  // What the run before handed on: its own commands.
  let commands = ((isRecord(input) && input["from"]) || {}) as BatchCommands;
  for (const event of events ?? []) {
    const { acceptedRequest } = event.workflowExecutionUpdateAcceptedEventAttributes ?? {};
    const content = decodedIfReadable(acceptedRequest?.input?.args?.payloads?.[0]);
    const why = textAt(content, "why");
    const by = textAt(content, "by") ?? "";
    const given = { by, since: timeOf(event), ...(why !== undefined && { why }) };
    const { cancelled } = commands;
    const name = acceptedRequest?.input?.name;
    if (name === pauseBatchUpdate.name) commands = { ...commands, paused: given };
    if (name === resumeBatchUpdate.name) commands = { ...(cancelled && { cancelled }) };
    if (name === cancelBatchUpdate.name) commands = { ...commands, cancelled: given };
  }
  return commands;
};

/** Read what people have commanded a batch, from its history: it takes no worker. */
export const readBatchCommands = async (
  { client }: Temporal,
  { runId, workflowId }: Readonly<Record<"runId" | "workflowId", string>>,
): Promise<BatchCommands> =>
  commandsIn(await client.workflow.getHandle(workflowId, runId).fetchHistory());

/** Whether a batch left rows without a run, as its result says: it does so only where it was cancelled. */
export const hasLeftRows = (result: unknown): boolean =>
  isRecord(result) && Number(result["notStarted"] ?? 0) > 0;

/** How a run ended, where it is a batch: one that left rows out was cancelled, and has a result all the same. */
export const endingOfRun = <End extends { readonly state: StateName }>(
  workflowId: string,
  ending: End,
): End | { readonly state: "cancelled"; readonly result: unknown } =>
  "result" in ending && workflowId.startsWith(batchId("")) && hasLeftRows(ending.result)
    ? { state: "cancelled", result: ending.result }
    : ending;

/**
 * How a run stands, where it is a batch by what people have commanded it, too: to Temporal a paused one runs,
 * and a cancelled one completes.
 */
export const batchStateOf = async (
  temporal: Temporal,
  run: Described & Readonly<Record<"runId" | "type" | "workflowId", string>>,
): Promise<StateName> => {
  const state = stateNameOf(run);
  if (run.type !== WORKFLOW.payoutBatch) return state;
  if (state === "completed") {
    const closed = await readCloseEvent(temporal, run);
    const [result] = closed?.workflowExecutionCompletedEventAttributes?.result?.payloads ?? [];
    return hasLeftRows(decodedIfReadable(result)) ? "cancelled" : state;
  }
  if (!isOpenState(state)) return state;
  const { cancelled, paused } = await readBatchCommands(temporal, run);
  return paused !== undefined && cancelled === undefined ? "paused" : state;
};
