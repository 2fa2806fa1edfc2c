import { isRecord } from "@durable-payments/api-core/values";
import {
  type Approval,
  type ApprovalRequest,
  approveUpdate,
  isSamePerson,
  nameProblem,
  namesSomebody,
  NO_STARTER,
} from "@durable-payments/protocol";
import { ApplicationFailure } from "@temporalio/common";
import { condition, setHandler } from "@temporalio/workflow";
import type { RunState } from "../run/run-state.ts";

/** Why an approval cannot be taken, or undefined when it can. An update can carry anything. */
const whyNotApproved = (
  request: ApprovalRequest | undefined,
  approval: unknown,
): string | undefined => {
  if (request === undefined) return "This run does not wait for an approval.";
  if (!isRecord(approval) || !namesSomebody(approval["by"])) {
    return "Give the name of who decides (by).";
  }
  const { approve, by, hash, reject } = approval;
  const problem = nameProblem(by);
  if (problem !== undefined) return `The name of who decides (by) ${problem}.`;
  if (request.startedBy === undefined && approve === true) return NO_STARTER;
  const { amendedBy = [], overruledBy = [], rejectedOf = [], resentBy = [] } = request;
  // Whoever has changed it without a name could be anybody, who decides among them.
  if (![...amendedBy, ...overruledBy, ...rejectedOf, ...resentBy].every(namesSomebody)) {
    return "Nobody can approve a run that does not say who amended it or overruled its end: cancel it.";
  }
  if (request.startedBy !== undefined && isSamePerson(by, request.startedBy)) {
    return `${by} started this run: a second person has to decide.`;
  }
  if (amendedBy.some((name) => isSamePerson(by, name))) {
    return `${by} amended this payment: a second person has to decide.`;
  }
  if (resentBy.some((name) => isSamePerson(by, name))) {
    return `${by} had this sent again: a second person has to decide.`;
  }
  if (overruledBy.some((name) => isSamePerson(by, name))) {
    return `${by} overruled who had ended this run: a second person has to decide.`;
  }
  if (rejectedOf.some((name) => isSamePerson(by, name))) {
    return `${by} started what was rejected of this before: a second person has to decide.`;
  }
  if (hash !== request.hash) return `The approval is not for this payload (hash ${request.hash}).`;
  return (approve === true) === namesSomebody(reject)
    ? "Give either approve: true, or reject with why."
    : undefined;
};

/** What the refusal of a decision says that comes after another one. */
const decidedAlready = (given: Approval): string =>
  "approve" in given
    ? `This has been decided: it was APPROVED by ${given.by}, and the run goes on with it. Nothing was changed.`
    : `This has been decided: it was rejected by ${given.by}. Nothing was changed.`;

/** Show what is to be approved, and wait for the decision of a person who may decide. */
export const decisionOn = async (
  state: RunState,
  step: string,
  { note, request }: { readonly note: string; readonly request: ApprovalRequest },
): Promise<Approval> => {
  let approval: Approval | undefined;
  setHandler(approveUpdate, (given: Approval) => void (approval = given), {
    validator: (given: Approval) => {
      const fault =
        approval === undefined ? whyNotApproved(request, given) : decidedAlready(approval);
      if (fault !== undefined) throw ApplicationFailure.nonRetryable(fault, "InvalidApproval");
    },
  });
  state.show({ approval: request });
  state.waiting(step, note);
  await condition(() => approval !== undefined);
  state.show({ approval: undefined });
  // The condition holds: the update has set it.
  return approval as unknown as Approval;
};
