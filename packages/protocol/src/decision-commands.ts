import type { ApprovalRequest } from "./approval.ts";
import { approvalConsequences, settlementConsequences } from "./consequences.ts";
import type { HumanTask, HumanTaskAction } from "./human-task.ts";
import { sendingOf } from "./steps.ts";

/** A command by which a person decides, and what the decision does to the money. */
export interface DecisionCommand {
  /** Arguments of the starter; NAME, ID, FILE and WHY are for the person to fill in. */
  readonly args: ReadonlyArray<string>;
  readonly consequence: string;
}

/** The run that a person decides about, and no other of its workflow id. */
interface AskingRun {
  readonly workflowId: string;
  readonly runId: string;
}

const HOW: Readonly<
  Record<HumanTaskAction, (idsWanted: ReadonlyArray<string>) => ReadonlyArray<string>>
> = {
  found: (idsWanted) => idsWanted.flatMap((id) => ["--found", `${id}=ID`]),
  resend: () => ["--resend"],
  amend: () => ["--amend", "FILE"],
  abandon: () => ["--abandon", "WHY"],
};

/**
 * Name the commands that answer a question, one for each answer that is possible.
 *
 * @param run the run that asks.
 * @param task what it asks.
 * @returns the commands, in the order of the task's actions.
 */
export const resolveCommands = (
  { runId, workflowId }: AskingRun,
  { actions, consequences, idsWanted, question }: HumanTask,
): ReadonlyArray<DecisionCommand> =>
  actions.map((action) => ({
    args: [
      "resolve",
      workflowId,
      "--run-id",
      runId,
      "--question",
      question,
      "--by",
      "NAME",
      ...HOW[action](idsWanted),
    ],
    consequence: `${action}: ${consequences[action] ?? ""}`,
  }));

/**
 * Name the commands that approve or reject a payment.
 *
 * @param run the run that waits for the approval.
 * @param request the payment.
 * @returns two commands.
 */
export const approveCommands = (
  { runId, workflowId }: AskingRun,
  { hash }: Pick<ApprovalRequest, "hash">,
): ReadonlyArray<DecisionCommand> => {
  const args = ["approve", workflowId, "--run-id", runId, "--by", "NAME", "--hash", hash];
  return [
    { args, consequence: `approve: ${approvalConsequences.approve}` },
    {
      args: [...args, "--reject", "WHY"],
      consequence: `reject: ${approvalConsequences.reject}`,
    },
  ];
};

/**
 * Name the commands that settle what an ended run has in doubt.
 *
 * @param run the run that has ended.
 * @param operations what it has sent, and has no answer to.
 * @returns two commands.
 */
export const settleCommands = (
  { runId, workflowId }: AskingRun,
  operations: ReadonlyArray<string>,
): ReadonlyArray<DecisionCommand> => {
  const ids = new Set(operations.map((operation) => sendingOf(operation)?.idField ?? "NAME"));
  const args = ["settle", workflowId, "--run-id", runId, "--by", "NAME", "--reason", "WHY"];
  return [
    { args: [...args, ...HOW.found([...ids])], consequence: settlementConsequences.found },
    { args: [...args, "--not-carried-out"], consequence: settlementConsequences.notCarriedOut },
  ];
};
