import { type Voucher, VOUCHER } from "@durable-payments/protocol/calls";
import {
  type WorkflowClientInterceptor,
  type WorkflowOptions,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from "@temporalio/client";

/** The options of a start that decide whether its run can be the first of its id. */
type Start = {
  readonly [
    Name in "cronSchedule" | "memo" | "workflowIdConflictPolicy" | "workflowIdReusePolicy"
  ]?: WorkflowOptions[Name] | undefined;
};

/** A start whose id may be known already is not the first of its id. */
const canVouch = ({
  cronSchedule,
  memo,
  workflowIdConflictPolicy,
  workflowIdReusePolicy,
}: Start): boolean =>
  (cronSchedule ?? "") === "" &&
  memo?.[VOUCHER] === undefined &&
  (workflowIdConflictPolicy ?? WorkflowIdConflictPolicy.FAIL) === WorkflowIdConflictPolicy.FAIL &&
  (workflowIdReusePolicy ?? WorkflowIdReusePolicy.REJECT_DUPLICATE) ===
    WorkflowIdReusePolicy.REJECT_DUPLICATE;

/**
 * Makes an interceptor of a client that vouches for the runs it starts as the first of their ids: their first payment
 * is sent at once. A known id is then refused. A start with a policy of its own is not vouched for.
 */
export const vouchingInterceptor = (): WorkflowClientInterceptor => ({
  startWithDetails: (input, next) => {
    const { options } = input;
    if (!canVouch(options)) return next(input);
    const voucher: Voucher = { workflowId: options.workflowId, at: Date.now(), is: "first" };
    return next({
      ...input,
      options: {
        ...options,
        memo: { ...options.memo, [VOUCHER]: voucher },
        workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      },
    });
  },
});
