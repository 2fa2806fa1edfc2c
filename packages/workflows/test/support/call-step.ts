import {
  awaitApproval,
  awaitFunds,
  awaitPayout,
  awaitVerification,
  beginRun,
  createBeneficiary,
  createCardholder,
  createPayout,
  ensureBalance,
  issueCard,
  type Run,
  runChild,
} from "../../src/index.ts";

/** Public steps, by what an author gives them; a limit of its own makes every payment one to approve. */
const steps = {
  createPayout,
  awaitPayout,
  createBeneficiary,
  createCardholder,
  issueCard,
  ensureBalance,
  awaitFunds,
  awaitApproval: (run: Run, input: never) => awaitApproval(run, { above: "0" }, input),
  awaitPayoutFor: (run: Run, times: never) => awaitPayout(run, { payout_id: "p-1" }, times),
  awaitVerificationFor: (run: Run, times: never) => awaitVerification(run, "ch-1", times),
  awaitFundsFor: (run: Run, times: never) =>
    awaitFunds(run, { amount: "1.00", currency: "USD" }, times),
  runChildFor: (run: Run, times: object) =>
    runChild(run, "payout", { step: "child", args: [], ...times }),
};

/** Calls a step with anything. */
export const callStep = async ({
  input,
  step,
}: {
  readonly step: keyof typeof steps;
  readonly input: unknown;
}): Promise<void> => {
  const run = beginRun();
  await run.execute(async () => {
    // Whatever an author's own input is, and its types say.
    await steps[step](run, input as never);
  });
};
