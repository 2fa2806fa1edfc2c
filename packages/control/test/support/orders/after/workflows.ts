import { awaitPayout, createPayout } from "@durable-payments/workflows";
import { ApplicationFailure, proxyActivities, sleep } from "@temporalio/workflow";
import type { Order } from "../before/workflows.ts";

export * from "../../workflows.ts";

const { pack, reserve } = proxyActivities<{
  pack: () => Promise<void>;
  reserve: () => Promise<void>;
}>({ startToCloseTimeout: "1 minute" });

/** The mended workflow, with a new rule for fees, a packer, and a mistake about gifts. */
export const payOrder = async ({ fee, kind, price }: Order): Promise<void> => {
  if (kind === "gift") await sleep("1 hour");
  await reserve();
  await awaitPayout(await createPayout(price, { step: "price" }));
  if (Number(fee.amount) > 100)
    throw ApplicationFailure.nonRetryable(`The fee ${fee.amount} is too high.`, "FeeTooHigh");
  if (fee.amount === "7.00") await pack();
  if (fee.amount === "8.00") JSON.parse("no JSON");
  await awaitPayout(await createPayout(fee, { step: "fee", approval: { above: "50.00" } }));
};
