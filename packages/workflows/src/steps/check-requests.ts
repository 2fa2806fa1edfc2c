import type { PlannedRequest } from "@durable-payments/activities";
import { sendingOf, STEP } from "@durable-payments/protocol";
import { accountPin } from "../run/account-pin.ts";
import { localActivities } from "../run/activities.ts";
import { proofOfBatch } from "../run/approvals.ts";
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
      const { approvals } = stateOf(run);
      const proof = proofOfBatch();
      const checked = await (proof === undefined
        ? localActivities.checkRequests(planned)
        : localActivities.checkRequests(planned, proof));
      // A string alone where nobody has to approve anything.
      const { account, approval } =
        typeof checked === "string" ? { account: checked, approval: undefined } : checked;
      accountPin().know(account);
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
  { operation, step }: Pick<PlannedRequest, "operation"> & { readonly step: string },
  request: object,
): Promise<void> => {
  await localActivities.checkRequests([
    { operation, input: request, at: sendingOf(operation)?.input ?? step },
  ]);
};
