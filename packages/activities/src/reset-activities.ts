import type { Fault } from "@durable-payments/api-core";
import type { Journal } from "@durable-payments/journal";
import {
  type EndingDecision,
  instructionIdOf,
  PAYMENT_ACCOUNT,
  RETRY_INSTRUCTION_TYPE,
  runsOfIdQuery,
  type RetryInstruction,
} from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { isExecutionMissing } from "./missing-execution.ts";
import { stepsNotCarriedOut } from "./send-intent.ts";
import { readEndingDecision } from "./ended-by-person.ts";
import type { RunExecution } from "./read-history.ts";
import { decodePayloads } from "./readable-payloads.ts";
import { RunRelations } from "./run-relation.ts";
import { refuseSecondChild } from "./forgotten-children.ts";
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
  /**
   * Says that the run asks for an approval anew of what it sends by an input that was amended since it was approved;
   * absent in answers of before.
   */
  readonly approvesAnew?: true;
  /** What is wrong with the amended input: the run must not go on with it. Left out where nothing is. */
  readonly refused?: ReadonlyArray<Fault>;
  /**
   * Whether runs may have come before of which it is no reset: it is continued, or its parent has started it again.
   * What these have sent is not known by the instruction. Left out where there can be none.
   */
  readonly hasEarlierRuns?: true;
  /** The account that an earlier run of this workflow id was pinned to; absent where none was. */
  readonly account?: string;
  /** Steps of which it is known though that nothing that they have sent was carried out. */
  readonly notCarriedOut?: ReadonlyArray<string>;
  /**
   * The decision of a person that ended the run before, where a parent has started its child again and nobody has
   * overruled the decision: the run must not go past it. Left out where there is none.
   */
  readonly standing?: EndingDecision;
}

/** Activities of runs that were reset. */
export interface ResetActivities {
  /**
   * Reads why this run was reset, and the instruction that was placed for it before.
   *
   * @param parent of a child workflow: its parent may have started an earlier run of its workflow id.
   */
  readonly readRetryInstruction: (parent?: Required<Execution>) => Promise<ReadReset>;
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

/** What the runs of a workflow id say to one of them. */
interface RunsOfId {
  /** The latest instruction that is about this run, too. */
  readonly instructionId: string | undefined;
  /** Whether what that amends is the input of this run. */
  readonly isInputOwn: boolean;
  /** The account that they were pinned to. */
  readonly account: string | undefined;
  /** The run before this one. */
  readonly before: WorkflowExecutionInfo | undefined;
  /** Whether one of them is no reset of the same execution. */
  readonly hasOthers: boolean;
}

/** Read the runs of this workflow id; the instructions of its resets may be older than the latest. */
const readRuns = async (
  client: Client,
  relations: RunRelations,
  own: RunExecution,
): Promise<RunsOfId> => {
  const { runId: ownRunId, workflowId } = own;
  let latest: (Reset & Pick<RunsOfId, "isInputOwn">) | undefined;
  let account: string | undefined;
  let before: WorkflowExecutionInfo | undefined;
  let hasOthers = false;
  for await (const run of client.workflow.list({ query: runsOfIdQuery(workflowId) })) {
    if (run.workflowId !== workflowId) continue;
    const { runId, startTime, typedSearchAttributes } = run;
    if (runId !== ownRunId && (before === undefined || startTime > before.startTime)) before = run;
    account = typedSearchAttributes.get(PAYMENT_ACCOUNT) ?? account;
    const relation = await relations.relate(own, { workflowId, runId });
    hasOthers ||= relation !== "reset";
    // What a run was to do that does something else is not about this one.
    if (relation === "other") continue;
    const isInputOwn = relation === "reset" || relation === "attempt";
    for await (const reset of resetsOf(client, { workflowId, runId })) {
      if (reset.instructionId === undefined) continue;
      if (latest === undefined || reset.at > latest.at) latest = { ...reset, isInputOwn };
      break;
    }
  }
  const { instructionId, isInputOwn = false } = latest ?? {};
  return { instructionId, isInputOwn, account, before, hasOthers };
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
    if (workflowType?.name === RETRY_INSTRUCTION_TYPE) {
      const [instruction] = await decodePayloads(client, input);
      // The starter wrote it.
      if (instruction !== undefined) return instruction as RetryInstruction;
    }
  } catch (error) {
    if (!isExecutionMissing(error)) throw error;
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

/** Whether somebody has overruled a decision who had the parent retried. */
const isOverruled = async (
  client: Client,
  parent: Execution,
  { by, what, why }: EndingDecision,
): Promise<boolean> => {
  const reset = await resetsOf(client, parent).next();
  const instructionId = reset.done === true ? undefined : reset.value.instructionId;
  if (instructionId === undefined) return false;
  const { decisions = [] } = await readInstruction(client, instructionId);
  // The parent's own ending has the child's decision as its cause.
  return decisions.some(
    (each) =>
      each.overruled !== undefined && each.by === by && each.what === what && each.why === why,
  );
};

/** The decision of a person that ended the run before this one of a child, unless somebody has overruled it. */
const readStanding = async (
  client: Client,
  parent: Execution,
  before: WorkflowExecutionInfo,
): Promise<EndingDecision | undefined> => {
  const { closeTime: closedAt, runId, status, workflowId } = before;
  if (status.name !== "FAILED" || closedAt === undefined) return undefined;
  const decision = await readEndingDecision(client, { workflowId, runId, closedAt });
  return decision === undefined || (await isOverruled(client, parent, decision))
    ? undefined
    : decision;
};

/** What retries of an earlier run amended was of the input that was given to that one. */
const withoutInput = ({ fixed: _, input: __, ...instruction }: RetryInstruction) => ({
  ...instruction,
  fields: [],
  amendedBy: [],
});

const hasOtherRuns = async (
  client: Client,
  relations: RunRelations,
  own: RunExecution,
): Promise<boolean> => {
  const { workflowId } = own;
  for await (const run of client.workflow.list({ query: runsOfIdQuery(workflowId) })) {
    if (run.workflowId !== workflowId) continue;
    if ((await relations.relate(own, { workflowId, runId: run.runId })) !== "reset") return true;
  }
  return false;
};

/** The activities of runs that were reset, or started again by their parents. */
export const makeResetActivities = (inputs: OwnInputs, journal: Journal): ResetActivities => ({
  readRetryInstruction: async (parent) => {
    const { client, info } = Context.current();
    const { runId, workflowId } = info.workflowExecution ?? { runId: "", workflowId: "" };
    const reset = { runId, goesByChanges: true, approvesAnew: true } as const;
    // Before its instruction is taken: a retry of the child itself, perhaps one of many, does not go past it.
    if (parent !== undefined) await refuseSecondChild(journal, parent);
    const relations = new RunRelations(client);
    const execution = { workflowId, runId };
    const isContinued = (await relations.before(execution)) !== undefined;
    const own = await resetsOf(client, execution).next();
    const ownInstructionId = own.done === true ? undefined : own.value.instructionId;
    const mayHaveEarlierRuns = isContinued || parent !== undefined;
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
        ...((mayHaveEarlierRuns || (await hasOtherRuns(client, relations, execution))) && {
          hasEarlierRuns: true,
        }),
      };
    }
    const { account, before, hasOthers, instructionId, isInputOwn } = await readRuns(
      client,
      relations,
      execution,
    );
    const isStartedByParent = parent !== undefined && own.done === true;
    const sends = isStartedByParent ? await journal.find({ workflowId }) : [];
    // Lists lag: a run of just now may have sent, and be in no list yet.
    const isFirst =
      !isContinued && before === undefined && sends.every((send) => send.runId === runId);
    if (isStartedByParent && isFirst) return { ...reset, instruction: null, isOutdated: false };
    const notCarriedOut = stepsNotCarriedOut(sends);
    const instruction =
      instructionId === undefined ? null : await takeInstruction(client, instructionId);
    const standing =
      isStartedByParent && before !== undefined
        ? await readStanding(client, parent, before)
        : undefined;
    return {
      ...reset,
      instruction: instruction && !isInputOwn ? withoutInput(instruction) : instruction,
      isOutdated: true,
      ...((mayHaveEarlierRuns || hasOthers) && { hasEarlierRuns: true }),
      ...(notCarriedOut.length > 0 && { notCarriedOut }),
      ...(account !== undefined && { account }),
      ...(standing && { standing }),
    };
  },
});
