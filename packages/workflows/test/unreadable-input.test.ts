import { timeSkipping } from "@durable-payments/tools/testing";
import { describe, expect, it } from "vitest";
import { defineOperation } from "../src/index.ts";
import { failureOf } from "./support/failure-of.ts";
import { useRig, useService } from "./support/hooks.ts";
import { onboardInput, payoutInput } from "./support/inputs.ts";
import { timeSkippingRig, withWorker } from "./support/rig.ts";
import { callStep } from "./support/call-step.ts";

const { payout } = payoutInput;
const { currency: _, ...noCurrency } = payout;
const noString = { toString: 1, valueOf: 1 };
const paid = { payout, beneficiary_id: "b1" };
const batch = { chunks: 1, rows: 1, totals: { USD: "1.00" } };

const payouts: ReadonlyArray<readonly [input: unknown, names: string]> = [
  [null, "input"],
  ["text", "input"],
  [7, "input"],
  [[], "input"],
  [{}, "payout"],
  [{ payout: null }, "payout"],
  [{ payout: "text", beneficiary_id: "b1" }, "payout"],
  [{ payout: {}, beneficiary_id: "b1" }, "payout.currency"],
  [{ payout: noCurrency, beneficiary_id: "b1" }, "payout.currency"],
  [{ payout: { ...payout, currency: 7 }, beneficiary_id: "b1" }, "payout.currency"],
  [{ payout: { ...payout, amount: noString }, beneficiary_id: "b1" }, "payout.amount"],
  [{ payout: { ...payout, payment_date: noString }, beneficiary_id: "b1" }, "payment_date"],
  [{ payout }, "beneficiary_id"],
  [{ payout, beneficiary_id: null }, "beneficiary_id"],
  [{ payout, beneficiary_id: noString }, "beneficiary_id"],
  [{ payout, beneficiary: null }, "beneficiary"],
  [{ payout, beneficiary: { nickname: noString } }, "beneficiary"],
  [{ ...paid, options: "text" }, "options"],
  [{ ...paid, options: { completeWithin: "soon" } }, "options.completeWithin"],
  [{ ...paid, options: { completeWithin: "5 dayz" } }, "options.completeWithin"],
  [{ ...paid, options: { completeWithin: 1e300 } }, "options.completeWithin"],
  [{ ...paid, options: { completeWithin: null } }, "options.completeWithin"],
  [{ ...paid, options: { pollInterval: { min: noString } } }, "options.pollInterval.min"],
  [{ ...paid, options: { pollInterval: { max: "5 dayz" } } }, "options.pollInterval.max"],
  [{ ...paid, options: { approval: {} } }, "options.approval.above"],
  [{ ...paid, options: { approval: "1.00" } }, "options.approval"],
  [{ ...paid, options: { approval: { above: 1 } } }, "options.approval.above"],
  [{ ...paid, account: 7 }, "account"],
];

const onboardings: ReadonlyArray<readonly [input: unknown, names: string]> = [
  [null, "input"],
  [{}, "card"],
  [{ ...onboardInput, card: null }, "card"],
  [{ ...onboardInput, card: { card_limit: noString } }, "card.card_limit"],
  [{ card: onboardInput.card }, "card_holder_id"],
  [{ ...onboardInput, cardholder: null }, "cardholder"],
  [{ ...onboardInput, cardholder: { first_name: noString } }, "first_name"],
  [{ ...onboardInput, options: { fundWithin: {} } }, "options.fundWithin"],
  [{ ...onboardInput, options: { verifyWithin: "soon" } }, "options.verifyWithin"],
];

const batches: ReadonlyArray<readonly [input: unknown, names: string]> = [
  [null, "input"],
  [{}, "totals"],
  [{ ...batch, chunks: undefined }, "chunks"],
  [{ ...batch, totals: { USD: 1 } }, "totals.USD"],
  [{ ...batch, hashes: "text" }, "hashes"],
  [{ ...batch, overruled: [null] }, "overruled[0]"],
  [{ ...batch, approval: { above: 1 } }, "approval.above"],
];

const steps: ReadonlyArray<
  readonly [step: Parameters<typeof callStep>[0]["step"], input: unknown]
> = [
  ...(
    ["createPayout", "awaitPayout", "createBeneficiary", "createCardholder", "issueCard"] as const
  ).flatMap((step) => [null, {}, "text"].map((input) => [step, input] as const)),
  ...([null, {}, { amount: 1, currency: "USD" }, { amount: "1.00" }] as const).map(
    (input) => ["awaitFunds", input] as const,
  ),
  ...[null, {}, { amount: 1, payload: {} }, { payload: {} }].map(
    (input) => ["awaitApproval", input] as const,
  ),
  ["ensureBalance", null],
  ["ensureBalance", noString],
];

const waits = (["awaitPayoutFor", "awaitVerificationFor", "awaitFundsFor"] as const).flatMap(
  (step) => [
    { step, times: { within: "3 dayz" }, names: "within" },
    { step, times: { within: -1 }, names: "within" },
    { step, times: { within: null }, names: "within" },
    { step, times: { pollInterval: { min: "soon" } }, names: "pollInterval.min" },
    { step, times: { pollInterval: { max: "-1 hour" } }, names: "pollInterval.max" },
  ],
);

const times = [
  ...waits,
  ...[{ workflowExecutionTimeout: "3 dayz" }, { workflowExecutionTimeout: -1 }].map((wrong) => ({
    step: "runChildFor" as const,
    times: wrong,
    names: "workflowExecutionTimeout",
  })),
  { step: "runChildFor", times: { retry: { initialInterval: "soon" } }, names: "initialInterval" },
] as const;

describe.skipIf(!timeSkipping.available)("an input that no workflow can read", () => {
  const rig = useRig(timeSkippingRig);
  const service = useService();

  const refusalOf = (workflow: string, input: unknown): Promise<unknown> =>
    withWorker(rig, service.activities, async () => {
      const { client } = rig.environment;
      const handle = await client.workflow.start(workflow, {
        taskQueue: rig.queue.taskQueue,
        workflowId: crypto.randomUUID(),
        args: [input],
        workflowExecutionTimeout: "1 minute",
      });
      const failure = await failureOf(handle.result());
      const { beneficiaries, cardholders, cards, payouts } = await service.simulator.state();
      expect([beneficiaries, cardholders, cards, payouts].flat()).toEqual([]);
      return failure;
    });

  it.each([
    ...payouts.map(([input, names]) => ({ workflow: "payout", input, names })),
    ...onboardings.map(([input, names]) => ({ workflow: "onboardCardholder", input, names })),
    ...batches.map(([input, names]) => ({ workflow: "payoutBatch", input, names })),
  ])("fails $workflow($input), naming $names", async ({ input, names, workflow }) => {
    expect(await refusalOf(workflow, input)).toMatchObject({
      type: "InvalidRequest",
      message: expect.stringContaining(names) as string,
    });
  });

  it.each(steps)("fails %s(run, %j)", async (step, input) => {
    expect(await refusalOf(callStep.name, { step, input })).toMatchObject({
      type: "InvalidRequest",
    });
  });

  it.each(times)("fails $step(run, $times) at once, naming $names", async (wrong) => {
    const { names, step, times: input } = wrong;
    expect(await refusalOf(callStep.name, { step, input })).toMatchObject({
      type: "InvalidRequest",
      message: expect.stringMatching(
        new RegExp(`${names} must be a duration, such as "7 days"\\. (?!It was not sent)`),
      ) as string,
    });
  });
});

it.each([Number.NaN, -1, "3 dayz"])("an operation with a keyLifetime of %s is none", (wrong) => {
  const define = () =>
    defineOperation({
      name: "bookEntry",
      repeat: "keyed",
      note: "booking",
      shown: () => ({}),
      // Plain JavaScript gives anything.
      keyLifetime: wrong as number,
    });
  expect(define).toThrow(`The keyLifetime of the operation bookEntry must be a duration`);
});
