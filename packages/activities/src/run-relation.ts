import type { Client } from "@temporalio/client";
import {
  executionOf,
  isAttempt,
  readStart,
  type RunExecution,
  type Start,
} from "./read-history.ts";

export type { RunExecution } from "./read-history.ts";

/**
 * How a run stands to another one of its workflow id:
 * - `reset`: the two are one execution, of which resets have made several runs;
 * - `attempt`: one is another attempt of the other's retry policy, with the same input;
 * - `again`: one was started again in the other's place: by its parent's retry, say, or under its id;
 * - `other`: one continues the other, or the two are of different executions of a parent that continues as new: what
 *   they do is not the same, whatever it looks like. So is what nobody can tell, as histories are gone.
 */
export type RunRelation = "reset" | "attempt" | "again" | "other";

/** Most executions of a chain that are read for one comparison. */
const MOST_EXECUTIONS = 500;

/** Compares runs by how they were started, which the server has written into their first events. */
export class RunRelations {
  readonly #client: Client;
  readonly #starts = new Map<string, Promise<Start | undefined>>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Read how a run was started; undefined where its history is gone. */
  startOf({ runId, workflowId }: RunExecution): Promise<Start | undefined> {
    const known = this.#starts.get(runId);
    if (known !== undefined) return known;
    const start = readStart(this.#client, { runId, workflowId });
    this.#starts.set(runId, start);
    return start;
  }

  /** The execution that a run continues as new, by its workflow or its cron schedule, or of which it is another attempt. */
  async before({ workflowId, ...run }: RunExecution): Promise<RunExecution | undefined> {
    const runId = (await this.startOf({ workflowId, ...run }))?.continuedExecutionRunId;
    return runId ? { workflowId, runId } : undefined;
  }

  /** Whether a run, or a parent of it, goes on where an execution before it has ended. */
  async isContinued(run: RunExecution): Promise<boolean> {
    const start = await this.startOf(run);
    // Nobody can tell any more.
    if (start === undefined) return true;
    const before = await this.before(run);
    if (before !== undefined && !isAttempt(start)) return true;
    const next = before ?? parentOf(start);
    return next !== undefined && (await this.isContinued(next));
  }

  /** Compare two runs. */
  async relate(a: RunExecution, b: RunExecution, most = MOST_EXECUTIONS): Promise<RunRelation> {
    // The id of a child that is started by other parents is the name of its payment.
    if (a.workflowId !== b.workflowId) return "again";
    if (a.runId === b.runId) return "reset";
    const [startA, startB] = await Promise.all([this.startOf(a), this.startOf(b)]);
    if (most === 0 || startA === undefined) return "other";
    if (startB === undefined) return (await this.isContinued(a)) ? "other" : "again";
    if (executionOf(a, startA) === executionOf(b, startB)) return "reset";
    const [beforeA, beforeB] = await Promise.all([this.before(a), this.before(b)]);
    if (beforeA !== undefined && isAttempt(startA)) {
      return asAttempt(await this.relate(beforeA, b, most - 1));
    }
    if (beforeB !== undefined && isAttempt(startB)) {
      return asAttempt(await this.relate(a, beforeB, most - 1));
    }
    if (beforeA !== undefined && beforeB !== undefined) {
      const isDirect = beforeA.runId === b.runId || beforeB.runId === a.runId;
      return isDirect ? "other" : asAgain(await this.relate(beforeA, beforeB, most - 1));
    }
    if (beforeA !== undefined || beforeB !== undefined) return "other";
    const [parentA, parentB] = [parentOf(startA), parentOf(startB)];
    return parentA === undefined || parentB === undefined
      ? "again"
      : asAgain(await this.relate(parentA, parentB, most - 1));
  }
}

const parentOf = ({ parentWorkflowExecution: parent }: Start): RunExecution | undefined =>
  parent?.workflowId && parent.runId
    ? { workflowId: parent.workflowId, runId: parent.runId }
    : undefined;

const asAttempt = (relation: RunRelation): RunRelation =>
  relation === "reset" ? "attempt" : relation;

/** Of two that were started by, or go on from, one and the same: what is started twice is started again. */
const asAgain = (relation: RunRelation): RunRelation => (relation === "other" ? "other" : "again");
