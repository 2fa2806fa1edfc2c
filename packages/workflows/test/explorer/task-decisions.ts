import type { Engine, Transition } from "./engine.ts";
import type { State } from "./scenario.ts";

/**
 * What people decide whom a run asks. They see what the run shows and nothing else, and know their
 * payments: one of the candidates is found where it is truly the step's. Where none is, the payment
 * has not been made as far as they can see.
 */
export const taskDecisions = async (
  engine: Engine,
  state: State,
): Promise<ReadonlyArray<Transition>> => {
  const next: Array<Transition> = [];
  for (const run of state.runs) {
    if (!run.isCurrent) continue;
    const { question } = await engine.situation(run);
    if (question === undefined) continue;
    const { actions, candidates, question: questionId, step } = question;
    const found = candidates
      .map(({ payout_id }) => payout_id)
      .find((id) =>
        state.ledger.some(
          ({ payout, step: madeIn, workflowId }) =>
            payout.payout_id === id && workflowId === run.workflowId && madeIn === step,
        ),
      );
    const decide = async (
      resolution: Readonly<Record<string, unknown>>,
      budget = state.budget,
    ): Promise<void> => {
      const event = {
        kind: "resolve",
        at: state.now,
        resolution: { by: "a person", question: questionId, ...resolution },
      } as const;
      next.push({
        label: `a person decides for ${run.workflowId}: ${JSON.stringify(resolution)}`,
        state: await engine.deliver({ ...state, budget }, run, event),
      });
    };
    if (found !== undefined && actions.includes("found"))
      await decide({ found: { payout_id: found } });
    else if (actions.includes("resend")) await decide({ resend: true });
    if (state.budget.abandons > 0) {
      const budget = { ...state.budget, abandons: state.budget.abandons - 1 };
      await decide({ abandon: "do not pay" }, budget);
    }
  }
  return next;
};
