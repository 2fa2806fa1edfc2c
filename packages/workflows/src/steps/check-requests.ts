import type { CheckedRequests, PlannedRequest } from "@durable-payments/activities";
import { sendingOf, STEP } from "@durable-payments/protocol";
import { accountPin } from "../run/account-pin.ts";
import { localActivities } from "../run/activities.ts";
import { proofOfBatch } from "../run/approvals.ts";
import type { RunState } from "../run/run-state.ts";
import { type Run, stateOf } from "../run/run.ts";

/**
 * Check everything that a run is going to send, before it sends anything, and pin the run to the
 * account of the worker that checks.
 *
 * @param planned each request, with the fields that an earlier step will fill in.
 * @throws InvalidRequest, which names every fault.
 */
export const checkRequests = (run: Run, planned: ReadonlyArray<PlannedRequest>): Promise<void> =>
  stateOf(run).step(
    STEP.checkRequests,
    "checking the input",
    async () => {
      const { approvals, sends } = stateOf(run);
      const proof = proofOfBatch();
      const checked = await (proof === undefined
        ? localActivities.checkRequests(planned)
        : localActivities.checkRequests(planned, proof));
      // A string alone where nothing else is to be known.
      const { account, approval, marks }: CheckedRequests =
        typeof checked === "string" ? { account: checked } : checked;
      accountPin().know(account);
      if (marks !== undefined) sends.keyMarks(marks);
      approvals.isWanted = approval === "needed";
      approvals.isOfBatch = approval === "given" || approval === "atSend";
      if (approval === "given") {
        approvals.isBound = true;
        approvals.approve(planned, "the approval of its batch");
      }
    },
    { isSearchable: false },
  );

/**
 * Check a request of a step that was amended, before it is sent.
 *
 * @throws InvalidRequest, which names every fault.
 */
export const checkRequest = async (
  { sends }: RunState,
  { operation, step }: Pick<PlannedRequest, "operation"> & { readonly step: string },
  request: object,
): Promise<void> => {
  const checked = await localActivities.checkRequests([
    { operation, input: request, at: sendingOf(operation)?.input ?? step },
  ]);
  if (typeof checked !== "string" && checked.marks !== undefined) sends.keyMarks(checked.marks);
};
