import {
  awaitApproval,
  awaitFunds,
  awaitPayout,
  beginRun,
  createBeneficiary,
  createCardholder,
  createPayout,
  ensureBalance,
  issueCard,
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
  awaitApproval: (run: Parameters<typeof awaitApproval>[0], input: never) =>
    awaitApproval(run, { above: "0" }, input),
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
