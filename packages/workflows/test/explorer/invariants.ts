import type { Engine } from "./engine.ts";
import type { CreatedPayout, State } from "./scenario.ts";

const nameOf = ({ step, workflowId }: Pick<CreatedPayout, "step" | "workflowId">): string =>
  `${workflowId} ${step}`;

/** What is wrong in the ledger: a step that is paid twice. */
const wrongInLedger = ({ ledger }: State): string | undefined => {
  const paid = new Map<string, string>();
  for (const made of ledger) {
    const other = paid.get(nameOf(made));
    if (other !== undefined) {
      return `${nameOf(made)} is paid twice: ${other}, ${made.payout.payout_id}`;
    }
    paid.set(nameOf(made), made.payout.payout_id);
  }
  return undefined;
};

/** What is wrong in what runs report: a payout of two steps, one that was never made, a step without one. */
const wrongInReports = async (engine: Engine, state: State): Promise<string | undefined> => {
  const takers = new Map<string, string>();
  for (const run of state.runs) {
    const { closed, inDoubt, question, taken } = await engine.situation(run);
    if (question !== undefined && !engine.scenario.mayAsk) {
      return `${run.workflowId} asks without need: ${question.reason}`;
    }
    for (const { payoutId, step } of taken) {
      const name = `${run.workflowId} ${step}`;
      const taker = takers.get(payoutId) ?? name;
      if (taker !== name) return `${payoutId} is taken by ${taker} and by ${name}`;
      takers.set(payoutId, name);
      if (!state.ledger.some(({ payout }) => payout.payout_id === payoutId)) {
        return `${name} reports ${payoutId}, which was never made`;
      }
    }
    const has = (step: string) => taken.some((one) => one.step === step);
    if (closed?.kind === "completed") {
      const steps = Object.keys(engine.scenario.runs[run.workflowId] ?? {});
      const missing = steps.filter((step) => !has(step));
      if (missing.length > 0) return `${run.workflowId} completed without ${missing.join(", ")}`;
    }
    if (closed !== undefined && closed.kind !== "completed" && run.isCurrent) {
      const silent = state.ledger.find(
        ({ step, workflowId }) =>
          workflowId === run.workflowId && !has(step) && !inDoubt.includes(step),
      );
      if (silent !== undefined) {
        return `${nameOf(silent)} is paid, and the run that ended does not say that it may be`;
      }
    }
  }
  return undefined;
};

/** Check that a transition does not pay what a person has ended before. */
const wrongInStep = async (
  engine: Engine,
  before: State,
  state: State,
): Promise<string | undefined> => {
  for (const made of state.ledger.slice(before.ledger.length)) {
    for (const run of before.runs) {
      if (run.workflowId !== made.workflowId) continue;
      const { abandoned } = await engine.situation(run);
      if (abandoned.includes(made.step)) return `${nameOf(made)} is paid after it was abandoned`;
    }
  }
  return undefined;
};

/** The invariant that a transition violates; undefined where it violates none. */
export const violationOf = async (
  engine: Engine,
  before: State,
  state: State,
): Promise<string | undefined> =>
  wrongInLedger(state) ??
  (await wrongInReports(engine, state)) ??
  (await wrongInStep(engine, before, state));

/** A run that has not ended where nothing more can happen. */
export const unfinishedRun = async (
  engine: Engine,
  { runs }: State,
): Promise<string | undefined> => {
  for (const run of runs) {
    const { closed } = await engine.situation(run);
    if (run.isCurrent && closed === undefined) return `${run.workflowId} waits for ever`;
  }
  return undefined;
};

/** Whether a person was asked on the way to a state. */
export const wasAsked = async (engine: Engine, { runs }: State): Promise<boolean> => {
  for (const run of runs) if ((await engine.situation(run)).asked > 0) return true;
  return false;
};
