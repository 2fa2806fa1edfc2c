import { PAYMENT_ACCOUNT } from "@durable-payments/protocol";
import { type WithWorkflowArgs, WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import {
  type ChildWorkflowOptions,
  executeChild,
  sleep,
  type Workflow,
  workflowInfo,
  type WorkflowResultType,
} from "@temporalio/workflow";
import { accountPin } from "../run/account-pin.ts";
import { duration, expectTimes, object, optional } from "../run/input-faults.ts";
import { type Run, stateOf } from "../run/run.ts";
import { approveAmendedChild, startedBy } from "./approval.ts";

/** How a child workflow is started. */
export interface ChildOptions<W extends Workflow> extends Pick<
  ChildWorkflowOptions,
  "memo" | "retry" | "staticDetails" | "staticSummary" | "workflowExecutionTimeout"
> {
  /** Name of the step: its workflow id is the parent's, a slash and this, in every run of the parent. */
  readonly step: string;
  /** What the child is started with. */
  readonly args: Parameters<W>;
}

/** Another error would fail the workflow task, for ever. */
const times = object({
  workflowExecutionTimeout: optional(duration),
  retry: optional(
    object({ initialInterval: optional(duration), maximumInterval: optional(duration) }),
  ),
});

const LONGEST_WAIT_MS = 10 * 60_000;

/**
 * Run a child workflow that is begun by `beginRun`, `payout` for one, and await its result. Its workflow id is
 * derived from the parent's and the step, so that a parent that was retried starts the same child again: that finds
 * out what its earlier runs have sent, takes it over, and does not go past what a person has decided. The child goes
 * on by itself where its parent ends; a parent that starts it again waits until that run has ended.
 *
 * @param workflow the function, or its name.
 * @returns what the child returns.
 * @throws ChildWorkflowFailure with what the child failed with as its cause.
 * @throws InvalidRequest where a time of `retry`, or `workflowExecutionTimeout`, is no length of time.
 * @throws DuplicateStep where a step of this name has sent, or run a child, in this run.
 * @example
 * ```ts
 * const { payout_id } = await runChild(run, payout, { step: "payTheFirst", args: [first] });
 * ```
 */
export const runChild = <W extends Workflow>(
  run: Run,
  workflow: W | string,
  { args, memo, step, ...options }: ChildOptions<W>,
): Promise<WorkflowResultType<W>> => {
  const type = typeof workflow === "string" ? workflow : workflow.name;
  return run.step(step, `running ${type}`, async () => {
    expectTimes(options, step, times, "The child was not started.");
    const state = stateOf(run);
    state.sends.sendsOnce(step);
    if (state.approvals.isOutdated) await approveAmendedChild(state, { args, step, type });
    const workflowId = `${workflowInfo().workflowId}/${step}`;
    const { account } = accountPin();
    const by = startedBy();
    for (let waitMs = 1_000; ; waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2)) {
      try {
        return await executeChild<W>(type, {
          ...options,
          // Whoever has started the parent has started this, and cannot approve it: somebody else can.
          memo: { ...(by !== undefined && { startedBy: by }), ...memo },
          args,
          workflowId,
          parentClosePolicy: "ABANDON",
          // What it sends is of the account of its parent.
          ...(account !== undefined && {
            typedSearchAttributes: [{ key: PAYMENT_ACCOUNT, value: account }],
          }),
          // The SDK's type of the same options knows args by the workflow, which is not known here.
        } as unknown as WithWorkflowArgs<W, ChildWorkflowOptions>);
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        run.waiting(step, `waiting until an earlier run of ${workflowId} has ended`);
        await sleep(waitMs);
      }
    }
  });
};
