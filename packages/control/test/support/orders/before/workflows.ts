import { awaitPayout, createPayout } from "@durable-payments/workflows";
import { ApplicationFailure, proxyActivities } from "@temporalio/workflow";

export * from "../../workflows.ts";

type Payout = Parameters<typeof createPayout>[0];

/** An order: what is paid to its seller, and the fee. */
export interface Order {
  readonly price: Payout;
  readonly fee: Payout;
  readonly kind: "goods" | "gift";
  readonly note?: string;
}

const { reserve } = proxyActivities<{ reserve: () => Promise<void> }>({
  startToCloseTimeout: "1 minute",
});

/** A project's workflow with a fault: not every order has a note. */
export const payOrder = async ({ fee, note, price }: Order): Promise<void> => {
  await reserve();
  await awaitPayout(await createPayout(price, { step: "price" }));
  if (note === undefined) throw ApplicationFailure.nonRetryable("The order has no note.", "NoNote");
  await awaitPayout(await createPayout(fee, { step: "fee" }));
};
