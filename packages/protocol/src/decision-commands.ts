import type { ApprovalRequest } from "./approval.ts";
import {
  approvalConsequences,
  finalSettlementConsequences,
  settlementConsequences,
} from "./consequences.ts";
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
 * @returns two commands; the one that rejects alone where nobody can approve it.
 */
export const approveCommands = (
  { runId, workflowId }: AskingRun,
  { hash, startedBy }: Pick<ApprovalRequest, "hash" | "startedBy">,
): ReadonlyArray<DecisionCommand> => {
  const args = ["approve", workflowId, "--run-id", runId, "--by", "NAME", "--hash", hash];
  return [
    ...(startedBy === undefined
      ? []
      : [{ args, consequence: `approve: ${approvalConsequences.approve}` }]),
    {
      args: [...args, "--reject", "WHY"],
      consequence: `reject: ${approvalConsequences.reject}`,
    },
  ];
};

/** A step in doubt of an ended run, and what is known of it beside. */
interface SettledStep {
  readonly step: string;
  readonly operation: string;
  /** What it made, by id, where the run or the journal of sends knows it. */
  readonly made?: Readonly<Record<string, string>> | undefined;
  /** Whether the journal of sends has it as not carried out. */
  readonly isNotMade?: boolean;
}

const madeArguments = ({ made = {}, operation }: SettledStep): ReadonlyArray<string> => {
  const { idField: name = Object.keys(made)[0] ?? "NAME" } = sendingOf(operation) ?? {};
  return ["--found", `${name}=${made[name] ?? "ID"}`];
};

/**
 * Name the commands that settle what an ended run has in doubt: for each step those that are not refused.
 *
 * @param run the run that has ended; `isRetried`: whether a retry can go on with it.
 * @param steps what it has sent, and has no answer to.
 * @returns up to two commands for each step.
 */
export const settleCommands = (
  { isRetried, runId, workflowId }: AskingRun & { readonly isRetried: boolean },
  steps: ReadonlyArray<SettledStep>,
): ReadonlyArray<DecisionCommand> => {
  const means = isRetried ? settlementConsequences : finalSettlementConsequences;
  const args = ["settle", workflowId, "--run-id", runId, "--by", "NAME", "--reason", "WHY"];
  const several = new Set(steps.map(({ step }) => step)).size > 1;
  return steps.flatMap((each) => {
    const of = [...args, ...(several ? ["--step", each.step] : [])];
    return [
      ...(each.isNotMade === true
        ? []
        : [{ args: [...of, ...madeArguments(each)], consequence: means.found }]),
      ...(each.made === undefined
        ? [{ args: [...of, "--not-carried-out"], consequence: means.notCarriedOut }]
        : []),
    ];
  });
};
