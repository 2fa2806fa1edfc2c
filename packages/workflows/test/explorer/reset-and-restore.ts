import { type Engine, HEARTBEAT_TIMEOUT_MS, type Transition } from "./engine.ts";
import type { RunChain } from "./run-situations.ts";
import type { RunRecord, State } from "./scenario.ts";

/**
 * Reset runs to the beginning of a step that they have begun. What a person has ended is not reset: that
 * takes another decision.
 */
export const resets = async (engine: Engine, state: State): Promise<ReadonlyArray<Transition>> => {
  if (state.budget.resets === 0) return [];
  const next: Array<Transition> = [];
  for (const run of state.runs) {
    if (!run.isCurrent) continue;
    const { abandoned, closed } = await engine.situation(run);
    if (closed?.kind === "completed" || abandoned.length > 0) continue;
    for (const at of await beginnings(engine, run.chain)) {
      next.push(await reset(engine, state, run, at));
    }
  }
  return next;
};

/** The activations in which a run has begun a step. */
const beginnings = async (engine: Engine, chain: RunChain): Promise<ReadonlyArray<RunChain>> => {
  const found: Array<RunChain> = [];
  for (let at: RunChain | undefined = chain; at?.parent !== undefined; at = at.parent) {
    const before = await engine.situations.of(at.parent);
    const { step } = await engine.situations.of(at);
    if (before.step !== step) found.push(at);
  }
  return found;
};

const reset = async (
  engine: Engine,
  state: State,
  run: RunRecord,
  beginning: RunChain,
): Promise<Transition> => {
  const { step } = await engine.situations.of(beginning);
  const { entry, parent } = beginning;
  if (entry === undefined || parent === undefined) throw new Error("A run begins with an event.");
  const { chains } = engine.situations;
  const number = state.runs.filter(({ workflowId }) => workflowId === run.workflowId).length + 1;
  const runId = `${run.workflowId}/${number}`;
  const made: RunRecord = {
    ...run,
    chain: chains.add(parent, { kind: "reset", at: state.now, runId }),
    oldestShown: -1,
    attempts: {},
  };
  const runs = [
    ...state.runs.map((one) => (one === run ? { ...one, isCurrent: false, attempts: {} } : one)),
    made,
  ];
  const budget = { ...state.budget, resets: state.budget.resets - 1 };
  return {
    label: `${run.workflowId} is reset to ${step}`,
    state: await engine.deliver(
      { ...state, runs, budget, processes: state.processes.map(withoutServer(run.workflowId)) },
      made,
      { ...entry, at: state.now },
    ),
  };
};

const withoutServer =
  (workflowId?: string) =>
  (process: State["processes"][number]): State["processes"][number] =>
    workflowId === undefined || process.chain.root.workflowId === workflowId
      ? { ...process, isConnected: false }
      : process;

/**
 * How long a server is away at least while its database is put back: it is stopped, and started again. What
 * a worker has asked it before is asked again.
 */
const RESTORE_MS = 5_000;

/** Whether a process belongs to a worker that lived through the return of the server's database. */
export const isFromBefore = (
  { scenario }: Engine,
  { backup, budget }: State,
  { isConnected }: State["processes"][number],
): boolean => scenario.budget.restores > budget.restores && backup === undefined && !isConnected;

/** A copy of the server's database is made, and put back later; the service's ledger stays. */
export const restores = async (
  engine: Engine,
  state: State,
): Promise<ReadonlyArray<Transition>> => {
  if (state.backup !== undefined) {
    const now = state.now + RESTORE_MS;
    let restored: State = {
      ...state,
      now,
      runs: state.backup.map((run) => ({
        ...run,
        attempts: Object.fromEntries(
          Object.entries(run.attempts).map(([seq, { attempt }]) => [
            seq,
            { attempt, nextAt: now + HEARTBEAT_TIMEOUT_MS },
          ]),
        ),
      })),
      backup: undefined,
      processes: state.processes.map(withoutServer()),
    };
    for (const { isCurrent, workflowId } of state.backup) {
      if (isCurrent) restored = await engine.startAll(restored, workflowId);
    }
    return [{ label: "the server's database is put back", state: restored }];
  }
  if (state.budget.restores === 0) return [];
  const budget = { ...state.budget, restores: state.budget.restores - 1 };
  // What no worker has begun to ask for may be saved as scheduled, too.
  const idle = new Set(
    state.processes
      .filter(({ chain }) => chain.parent === undefined)
      .map(({ chain }) => `${chain.root.workflowId} ${chain.root.seq}`),
  );
  const scheduled = state.runs.map((run) => ({
    ...run,
    attempts: Object.fromEntries(
      Object.entries(run.attempts).filter(([seq]) => !idle.has(`${run.workflowId} ${seq}`)),
    ),
  }));
  return [
    { label: "the server's database is copied", state: { ...state, budget, backup: state.runs } },
    ...(idle.size === 0
      ? []
      : [
          {
            label: "the server's database is copied, before an activity begins",
            state: { ...state, budget, backup: scheduled },
          },
        ]),
  ];
};
