import type { PayoutInput } from "@durable-payments/workflows";
import { beginRun, payout, runChild } from "@durable-payments/workflows";

// A worker without PaymentsPlugin takes it from here.
export { payout } from "@durable-payments/workflows";

/** Pays the parts of an invoice side by side, each by a child workflow. */
export function payInParts(parts: ReadonlyArray<PayoutInput>): Promise<ReadonlyArray<string>> {
  const run = beginRun({ input: parts });
  return run.execute(async () => {
    const given = await run.input();
    const paid = await Promise.all(
      given.map((part, index) => runChild(run, payout, { step: `part${index + 1}`, args: [part] })),
    );
    return paid.map(({ payout_id }) => payout_id);
  });
}

/** Pays them one after the other. */
export function payOneByOne(parts: ReadonlyArray<PayoutInput>): Promise<ReadonlyArray<string>> {
  const run = beginRun({ input: parts });
  return run.execute(async () => {
    const paid: Array<string> = [];
    for (const [index, part] of parts.entries()) {
      const made = await runChild(run, payout, { step: `part${index + 1}`, args: [part] });
      paid.push(made.payout_id);
    }
    return paid;
  });
}
