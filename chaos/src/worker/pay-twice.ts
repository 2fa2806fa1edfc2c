import type { Input } from "@durable-payments/api-core";
import type { Duration } from "@durable-payments/protocol";
import { awaitPayout, beginRun, checkRequests, createPayout } from "@durable-payments/workflows";

type Payment = Omit<Input<"createPayout">, "unique_request_id">;

/** Two payments of one run, which a list of payouts may not distinguish. */
export interface PayTwiceInput {
  readonly first: Payment;
  readonly second: Payment;
  readonly options: {
    /** Whether both are sent, and awaited, at the same time. */
    readonly sideBySide: boolean;
    readonly within: Duration;
  };
}

/** Pay twice in one run, and return both payouts. */
export async function payTwice({ first, second, options }: PayTwiceInput) {
  const { sideBySide, within } = options;
  const run = beginRun();
  const pay = async (payment: Payment, step: string) =>
    awaitPayout(run, await createPayout(run, payment, step), { within });
  return run.execute(async () => {
    await checkRequests(run, [
      { operation: "createPayout", input: first, at: "first" },
      { operation: "createPayout", input: second, at: "second" },
    ]);
    if (sideBySide) {
      return await Promise.all([pay(first, "payTheFirst"), pay(second, "payTheSecond")]);
    }
    return [await pay(first, "payTheFirst"), await pay(second, "payTheSecond")];
  });
}
