import type { Input } from "@durable-payments/api-core";
import {
  beginRun,
  createPayout,
  defineOperation,
  payout,
  type PayoutInput,
} from "@durable-payments/workflows";
import {
  ApplicationFailure,
  condition,
  continueAsNew,
  defineSignal,
  executeChild,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import type { BookedEntry, Entry } from "./ledger-types.ts";

// A worker without PaymentsPlugin takes it from here.
export { payout } from "@durable-payments/workflows";

type Payment = Omit<Input<"createPayout">, "unique_request_id">;

/** A payment, and those that the runs to come pay. */
export interface PayInTurn {
  readonly payment: Payment;
  /** Name of the step that pays it. */
  readonly step?: string;
  /** What the run does before it pays, or after, or instead of it. */
  readonly stop?: "awaits" | "fails" | "owes nothing";
  readonly next?: PayInTurn;
  /** What was paid by the runs before. */
  readonly paid?: ReadonlyArray<string>;
}

export const goSignal = defineSignal("go");

/** Pays, and continues as new with the payment that is next. */
export function payInTurn(input: PayInTurn): Promise<ReadonlyArray<string>> {
  const run = beginRun({ input });
  let mayGo = input.stop !== "awaits";
  setHandler(goSignal, () => void (mayGo = true));
  return run.execute(async () => {
    await condition(() => mayGo);
    const pay = async (): Promise<string> => {
      const { payment, step } = await run.input();
      return (await createPayout(run, payment, step)).payout_id;
    };
    const made = input.stop === "owes nothing" ? [] : [await pay()];
    if (input.stop === "fails") throw ApplicationFailure.nonRetryable("The booking failed.");
    const paid = [...(input.paid ?? []), ...made];
    if (input.next === undefined) return paid;
    run.onFailure({
      what: "end the lease",
      how: () => Promise.reject(new Error("Nothing has failed.")),
    });
    return await continueAsNew<typeof payInTurn>({ ...input.next, paid });
  });
}

const bookEntry = defineOperation<Entry, BookedEntry>({
  name: "bookEntry",
  repeat: "keyed",
  note: "booking the entry",
  shown: ({ amount }) => ({ amount }),
});

/** Books an entry, and continues as new with the one that is next. */
export function bookInTurn(
  [entry, ...next]: ReadonlyArray<Entry>,
  isNamed: boolean,
): Promise<string> {
  const run = beginRun();
  return run.execute(async () => {
    const { id } = await bookEntry(run, entry!, isNamed ? { step: `book${next.length}` } : {});
    return next.length === 0 ? id : await continueAsNew<typeof bookInTurn>(next, isNamed);
  });
}

/** Pays what is of its attempt, and fails at the first one. */
export function payAtLast(payments: ReadonlyArray<Payment>): Promise<string> {
  const run = beginRun({ input: payments });
  return run.execute(async () => {
    const { attempt } = workflowInfo();
    const { payout_id } = await createPayout(run, payments[attempt - 1]!);
    if (attempt === 1) throw new ApplicationFailure("The booking failed.");
    return payout_id;
  });
}

/** Pays each part by a child of one and the same id: one after the other, or by the run that continues this one. */
export async function payByChild(
  parts: ReadonlyArray<PayoutInput>,
  how: "continued" | "inOneRun",
): Promise<ReadonlyArray<string>> {
  const run = beginRun({ input: parts });
  const now = how === "continued" ? parts.slice(0, 1) : parts;
  const paid = await run.execute(async () => {
    const ids: Array<string> = [];
    for (const part of now) {
      const workflowId = `${workflowInfo().workflowId}/part`;
      ids.push((await executeChild(payout, { workflowId, args: [part] })).payout_id);
    }
    return ids;
  });
  const rest = parts.slice(now.length);
  return rest.length === 0 ? paid : await continueAsNew<typeof payByChild>(rest, how);
}
