import { isRecord } from "@durable-payments/api-core/values";
import {
  type Approval,
  type ApprovalOptions,
  type ApprovalRequest,
  approveUpdate,
  type EndingDecision,
  STEP,
  intentOf,
  isSamePerson,
  nameProblem,
  namesSomebody,
} from "@durable-payments/protocol";
import { ApplicationFailure } from "@temporalio/common";
import { condition, setHandler, workflowInfo } from "@temporalio/workflow";
import { localActivities } from "../run/activities.ts";
import { runFailure } from "../run/failures.ts";
import { type Run, stateOf } from "../run/run.ts";

/** A payment that may have to be approved. */
export interface ToApprove {
  readonly amount: string;
  /** The whole payload; the approval is bound to it. */
  readonly payload: unknown;
  /** What the second person is shown. */
  readonly shown: Readonly<Record<string, unknown>>;
  /** What people have rejected of it before, in runs of other ids too, each overruled by somebody. */
  readonly overruled?: ReadonlyArray<EndingDecision & { readonly startedBy: string }>;
}

/** Who started the run, as its memo says. */
export const startedBy = (): string | undefined => {
  const name: unknown = workflowInfo().memo?.["startedBy"];
  return namesSomebody(name) ? name : undefined;
};

/**
 * The hash that an approval is bound to.
 *
 * @throws InvalidRequest where there is no payload: the approval would be one of anything.
 */
export const approvalHash = (payload: unknown): string => {
  // Undefined for what JSON cannot hold, whatever its type says.
  const text = JSON.stringify(payload) as string | undefined;
  if (text !== undefined) return intentOf("approval", [text]);
  throw runFailure("InvalidRequest", "What is to be approved (payload) is missing.");
};

/**
 * Wait, however long it takes, for a second person when an amount is above a limit. What this run has
 * been approved is not asked for again.
 *
 * @returns whether a person was asked: meanwhile the run may have been amended.
 * @throws Rejected when the second person says no; InvalidRequest where the payload is missing.
 */
export const awaitApproval = async (
  run: Run,
  { above }: ApprovalOptions,
  { amount, overruled = [], payload, shown }: ToApprove,
): Promise<boolean> => {
  const state = stateOf(run);
  const hash = approvalHash(payload);
  if (state.approved === hash) return false;
  state.setNeedsApproval();
  if (!(await localActivities.isAbove({ amount, limit: above }))) return false;
  const note = `above ${above}: a second person has to approve`;
  const ask = async (step: string): Promise<void> => {
    // A run that was reset knows of decisions once a step of it has begun.
    const overruledBy = [...state.decisions, ...overruled].flatMap((decision) =>
      decision.overruled ? [decision.overruled.by] : [],
    );
    const rejectedOf = overruled.map((rejected) => rejected.startedBy);
    const request: ApprovalRequest = {
      payment: shown,
      hash,
      startedBy: startedBy(),
      ...(state.amendedBy.length > 0 && { amendedBy: state.amendedBy }),
      ...(overruledBy.length > 0 && { overruledBy }),
      ...(rejectedOf.length > 0 && { rejectedOf }),
      since: new Date().toISOString(),
    };
    const given = await decisionOn(run, step, { note, request });
    const rejected = "reject" in given ? given.reject : undefined;
    state.audit.add({
      who: given.by,
      step,
      what: rejected === undefined ? "approved" : "rejected",
      detail: { hash, ...(rejected !== undefined && { why: rejected }) },
    });
    if (rejected !== undefined) {
      throw runFailure("Rejected", `${given.by} rejected the payment: ${rejected}`, {
        by: given.by,
        step,
        why: rejected,
      });
    }
  };
  // It is one stage to those who search for what is to be approved, however often it is asked.
  await state.step(STEP.awaitApproval, note, ask, { stage: STEP.awaitApproval });
  state.approved = hash;
  return true;
};

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
  if (request.startedBy === undefined) {
    return "Nobody can approve a run that does not say who started it (memo startedBy).";
  }
  const { amendedBy = [], overruledBy = [], rejectedOf = [] } = request;
  // Whoever has changed it without a name could be anybody, who decides among them.
  if (![...amendedBy, ...overruledBy, ...rejectedOf].every(namesSomebody)) {
    return "Nobody can approve a run that does not say who amended it or overruled its end: cancel it.";
  }
  if (isSamePerson(by, request.startedBy)) {
    return `${by} started this run: a second person has to decide.`;
  }
  if (amendedBy.some((name) => isSamePerson(by, name))) {
    return `${by} amended this payment: a second person has to decide.`;
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

/** Show what is to be approved, and wait for the decision. */
const decisionOn = async (
  run: Run,
  step: string,
  { note, request }: { readonly note: string; readonly request: ApprovalRequest },
): Promise<Approval> => {
  let approval: Approval | undefined;
  setHandler(approveUpdate, (given: Approval) => void (approval = given), {
    validator: (given: Approval) => {
      const fault =
        approval === undefined ? whyNotApproved(request, given) : "This approval has been decided.";
      if (fault !== undefined) throw ApplicationFailure.nonRetryable(fault, "InvalidApproval");
    },
  });
  run.show({ approval: request });
  run.waiting(step, note);
  await condition(() => approval !== undefined);
  run.show({ approval: undefined });
  // The condition holds: the update has set it.
  return approval as unknown as Approval;
};
