import type { Fault } from "@durable-payments/api-core";
import {
  isNotFound,
  instructionIdOf,
  PAYMENT_ACCOUNT,
  RETRY_INSTRUCTION_TYPE,
  runsOfIdQuery,
  type RetryInstruction,
} from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { ApplicationFailure, defaultPayloadConverter } from "@temporalio/common";
import { amendmentFaultsOf, type OwnInputs } from "./own-inputs.ts";

/** What a run that was reset finds out about its reset. */
export interface ReadReset {
  /** The run that asked: a reset of it copies this answer, and has to ask anew. */
  readonly runId: string;
  /** The newest instruction by which it was retried; null where there was none. */
  readonly instruction: RetryInstruction | null;
  /** Whether it was reset by another means since, so that the instruction does not say what was sent. */
  readonly isOutdated: boolean;
  /**
   * Says that the run goes by all changes of the code up to the one that made this field; absent in answers of
   * before, where markers of `patched` say it. Directly after a local activity those come too late for a replay.
   */
  readonly goesByChanges?: true;
  /** What is wrong with the amended input: the run must not go on with it. Left out where nothing is. */
  readonly refused?: ReadonlyArray<Fault>;
  /** The account that an earlier run of this workflow id was pinned to; absent where none was. */
  readonly account?: string;
}

/** Activities of runs that were reset. */
export interface ResetActivities {
  /** Reads why this run was reset, and the instruction that was placed for it before. */
  readonly readRetryInstruction: () => Promise<ReadReset>;
}

interface Execution {
  readonly workflowId: string;
  readonly runId?: string;
}

const PAGE = 50;

interface Reset {
  readonly instructionId: string | undefined;
  /** Seconds since 1970. */
  readonly at: number;
}

/** The resets in a run's history, the latest first: each is an event of the run that it made. */
async function* resetsOf(client: Client, execution: Execution): AsyncGenerator<Reset> {
  let nextPageToken: Uint8Array | null | undefined;
  do {
    const page = await client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution,
      maximumPageSize: PAGE,
      ...(nextPageToken && { nextPageToken }),
    });
    for (const event of page.history?.events ?? []) {
      const { eventTime, workflowTaskFailedEventAttributes: failed } = event;
      if (!failed?.newRunId) continue;
      const instructionId = instructionIdOf(failed.failure?.message ?? "");
      yield { instructionId, at: Number(eventTime?.seconds ?? 0) };
    }
    ({ nextPageToken } = page);
  } while (nextPageToken?.length);
}

/**
 * Read the runs of this workflow id: the latest instruction of any of them (those of its resets may be
 * older), and the account that they were pinned to.
 */
const readRuns = async (
  client: Client,
  workflowId: string,
): Promise<{
  readonly instructionId: string | undefined;
  readonly account: string | undefined;
}> => {
  let latest: Reset | undefined;
  let account: string | undefined;
  const query = runsOfIdQuery(workflowId);
  for await (const run of client.workflow.list({ query })) {
    if (run.workflowId !== workflowId) continue;
    const { runId, typedSearchAttributes } = run;
    account = typedSearchAttributes.get(PAYMENT_ACCOUNT) ?? account;
    for await (const reset of resetsOf(client, { workflowId, runId })) {
      if (reset.instructionId === undefined) continue;
      if (latest === undefined || reset.at > latest.at) latest = reset;
      break;
    }
  }
  return { instructionId: latest?.instructionId, account };
};

const readInstruction = async (
  client: Client,
  instructionId: string,
): Promise<RetryInstruction> => {
  try {
    const { history } = await client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution: { workflowId: instructionId },
      maximumPageSize: 1,
    });
    const { input, workflowType } =
      history?.events?.[0]?.workflowExecutionStartedEventAttributes ?? {};
    const [instruction] = input?.payloads ?? [];
    if (instruction && workflowType?.name === RETRY_INSTRUCTION_TYPE)
      return defaultPayloadConverter.fromPayload<RetryInstruction>(instruction);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  throw ApplicationFailure.nonRetryable(
    `The instruction ${instructionId} by which this run was to be retried is gone: retry it again.`,
    "RetryInstructionGone",
  );
};

/** It has been read: what is read again, after a lost workflow task, is its history. */
const closeInstruction = async (client: Client, instructionId: string): Promise<void> => {
  try {
    await client.workflow.getHandle(instructionId).terminate("The run has taken it up.");
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
};

const takeInstruction = async (
  client: Client,
  instructionId: string,
): Promise<RetryInstruction> => {
  const instruction = await readInstruction(client, instructionId);
  await closeInstruction(client, instructionId);
  return instruction;
};

/** The activities of runs that were reset. */
export const makeResetActivities = (inputs: OwnInputs): ResetActivities => ({
  readRetryInstruction: async () => {
    const { client, info } = Context.current();
    const { runId, workflowId } = info.workflowExecution ?? { runId: "", workflowId: "" };
    const reset = { runId, goesByChanges: true } as const;
    const own = await resetsOf(client, { workflowId, runId }).next();
    const ownInstructionId = own.done === true ? undefined : own.value.instructionId;
    if (ownInstructionId !== undefined) {
      const instruction = await takeInstruction(client, ownInstructionId);
      const { account } = instruction;
      const refused = await amendmentFaultsOf(inputs, info.workflowType ?? "", instruction);
      return {
        ...reset,
        instruction,
        isOutdated: false,
        ...(refused.length > 0 && { refused }),
        ...(account !== undefined && { account }),
      };
    }
    const { account, instructionId } = await readRuns(client, workflowId);
    return {
      ...reset,
      instruction:
        instructionId === undefined ? null : await takeInstruction(client, instructionId),
      isOutdated: true,
      ...(account !== undefined && { account }),
    };
  },
});
