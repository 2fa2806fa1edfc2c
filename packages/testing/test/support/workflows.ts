export { paySupplier } from "../examples/workflows.ts";
import { beginRun } from "@durable-payments/workflows";
import { executeChild, proxyActivities, sleep } from "@temporalio/workflow";
import type { paySupplier } from "../examples/workflows.ts";
import { payInStep } from "./one-payment.ts";

const { failing } = proxyActivities<{ failing: () => Promise<void> }>({
  startToCloseTimeout: "1 minute",
});

/** Calls an activity of the test's, which fails for ever. */
export async function callFailing(): Promise<void> {
  await failing();
}

/** Waits for nothing that comes. */
export async function waitForNothing(): Promise<void> {
  const run = beginRun();
  return run.execute(() => run.step("standStill", "waiting", () => new Promise<void>(() => {})));
}

/** Throws what is no failure of the run. */
export async function throwType(): Promise<void> {
  const nothing = undefined as unknown as { readonly field: { readonly of: string } };
  console.log(nothing.field.of);
}

/** Sleeps, and answers when it has woken up. */
export async function sleepLong(): Promise<number> {
  await sleep("30 days");
  return Date.now();
}

/** Waits for a child that waits for nothing that comes. */
export async function waitForChild(): Promise<void> {
  const run = beginRun();
  return run.execute(() =>
    run.step("awaitChild", "waiting", () =>
      executeChild<typeof waitForNothing>("waitForNothing", { workflowId: "the-child" }),
    ),
  );
}

/** Pays in two children at once. */
export async function payTwice(): Promise<ReadonlyArray<string | undefined>> {
  const pay = (amount: string) =>
    executeChild<typeof paySupplier>("paySupplier", { args: [amount] });
  return Promise.all([pay("10.00"), pay("20.00")]);
}

/** Pays a beneficiary that exists. */
export async function payBeneficiary(beneficiary_id: string): Promise<void> {
  await payInStep(beneficiary_id, "payTheInvoice");
}
