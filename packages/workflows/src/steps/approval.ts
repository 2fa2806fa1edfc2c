import { condition, setHandler, workflowInfo } from "@temporalio/workflow";
import { ApplicationFailure } from "@temporalio/common";
import { localActivities } from "../run/activities.ts";
import {
  type Approval,
  type ApprovalRequest,
  approveUpdate,
  whyNotApproved,
} from "../run/approval.ts";
import type { EndingDecision } from "@durable-payments/activities";
import { runFailure } from "../run/failures.ts";
import { intentOf } from "../run/keys.ts";
import type { Run } from "../run/run.ts";

/** When a second person has to approve. */
export interface ApprovalOptions {
  /** Amounts above this, a decimal string in the payment's currency. */
  readonly above: string;
}

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
  return typeof name === "string" && name.trim() !== "" ? name : undefined;
};

/**
 * Waits, however long it takes, for a second person when an amount is above a limit.
 *
 * @throws Rejected when the second person says no.
 */
export const awaitApproval = async (
  run: Run,
  { above }: ApprovalOptions,
  { amount, overruled = [], payload, shown }: ToApprove,
): Promise<void> => {
  run.setNeedsApproval();
  if (!(await localActivities.isAbove({ amount, limit: above }))) return;
  const note = `above ${above}: a second person has to approve`;
  const ask = async (step: string): Promise<void> => {
    // A run that was reset knows of decisions once a step of it has begun.
    const overruledBy = [...run.decisions, ...overruled].flatMap((decision) =>
      decision.overruled ? [decision.overruled.by] : [],
    );
    const rejectedOf = overruled.map((rejected) => rejected.startedBy);
    const request: ApprovalRequest = {
      payment: shown,
      hash: intentOf("approval", [JSON.stringify(payload)]),
      startedBy: startedBy(),
      ...(run.amendedBy.length > 0 && { amendedBy: run.amendedBy }),
      ...(overruledBy.length > 0 && { overruledBy }),
      ...(rejectedOf.length > 0 && { rejectedOf }),
      since: new Date().toISOString(),
    };
    let approval: Approval | undefined;
    setHandler(approveUpdate, (given: Approval) => void (approval = given), {
      validator: (given: Approval) => {
        const fault =
          approval === undefined
            ? whyNotApproved(request, given)
            : "This question has been answered.";
        if (fault !== undefined) throw ApplicationFailure.nonRetryable(fault, "InvalidApproval");
      },
    });
    run.shows({ approval: request });
    run.waiting(step, note);
    await condition(() => approval !== undefined);
    run.shows({ approval: undefined });
    // The condition holds: the update has set it.
    const given = approval as unknown as Approval;
    const rejected = "reject" in given ? given.reject : undefined;
    run.audit.add({
      who: given.by,
      step,
      what: rejected === undefined ? "approved" : "rejected",
      detail: { hash: request.hash, ...(rejected !== undefined && { why: rejected }) },
    });
    if (rejected !== undefined) {
      throw runFailure("Rejected", `${given.by} rejected the payment: ${rejected}`, {
        by: given.by,
        step,
        why: rejected,
      });
    }
  };
  // It is one stage to those who look for what is to be approved, however often it is asked.
  await run.step("awaitApproval", note, ask, { stage: "awaitApproval" });
};
