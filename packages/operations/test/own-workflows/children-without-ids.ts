import { beginRun, createPayout, payout, type PayoutInput } from "@durable-payments/workflows";
import {
  ApplicationFailure,
  executeChild,
  ParentClosePolicy,
  sleep,
  startChild,
  workflowInfo,
} from "@temporalio/workflow";
import { payOneByOne } from "./pay-in-parts.ts";

export { payInParts, payOneByOne } from "./pay-in-parts.ts";
export { payout } from "@durable-payments/workflows";

/** How a parent starts the children that pay. */
export interface PaysByChildren {
  readonly how: "abandoned" | "execute" | "grandchild" | "named" | "namedInTurn" | "own" | "start";
  readonly parts: ReadonlyArray<PayoutInput>;
  /** Ids for the children, where they are named; where there are none they are `<parent>/<index>`. */
  readonly ids?: ReadonlyArray<string>;
  /** What the parent does after its children. */
  readonly after: "fail" | "failOnce" | "wait";
}

/** A workflow of a user's own that pays by a step of its own. */
export function paysItself(input: PayoutInput): Promise<string> {
  const run = beginRun({ input });
  return run.execute(async () => {
    const given = await run.input();
    if (!("beneficiary_id" in given)) throw new Error("no beneficiary_id");
    const { beneficiary_id } = given;
    return (await createPayout(run, { ...given.payout, beneficiary_id })).payout_id;
  });
}

const isFirstRun = (): boolean => workflowInfo().runId === workflowInfo().firstExecutionRunId;

const payPart = async (
  { how, ids }: PaysByChildren,
  part: PayoutInput,
  index: number,
): Promise<void> => {
  switch (how) {
    case "execute":
      return void (await executeChild(payout, { args: [part] }));
    case "start":
      return void (await (await startChild(payout, { args: [part] })).result());
    case "abandoned":
      return void (await startChild(payout, {
        args: [part],
        parentClosePolicy: ParentClosePolicy.ABANDON,
      }));
    case "own":
      return void (await executeChild(paysItself, { args: [part] }));
    case "grandchild":
      return void (await executeChild(payOneByOne, { args: [[part]] }));
    case "named":
    case "namedInTurn":
      return void (await executeChild(payout, {
        workflowId: ids?.[index] ?? `${workflowInfo().workflowId}/${index}`,
        args: [part],
      }));
  }
};

/** Starts its children by the SDK's own means, in one step, and fails or waits in that same step. */
export function paysByChildren(input: PaysByChildren): Promise<string> {
  const run = beginRun({ input });
  return run.execute(() =>
    run.step("payAndBook", "paying, then booking", async () => {
      const parts = [...input.parts.entries()];
      // The first run comes to its first part only, and the one that was retried begins with the last.
      const inTurn = isFirstRun() ? parts.slice(0, 1) : parts.toReversed();
      for (const [index, part] of input.how === "namedInTurn" ? inTurn : parts)
        await payPart(input, part, index);
      if (input.after === "wait") await sleep("1 hour");
      else if (input.after === "fail" || isFirstRun())
        throw ApplicationFailure.nonRetryable("The booking failed.");
      return "booked";
    }),
  );
}

/** The same without anything of this project in it: the parent is no run that can be retried by `starter`. */
export async function plainParent(part: PayoutInput): Promise<void> {
  await executeChild(payout, { args: [part] });
  throw new ApplicationFailure("The booking failed.", "Booking", false);
}
