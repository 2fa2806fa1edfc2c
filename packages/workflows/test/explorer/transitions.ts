import type { IoRequest } from "./activity-execution.ts";
import type { AttemptState } from "./activity-states.ts";
import {
  currentRun,
  type Engine,
  HEARTBEAT_TIMEOUT_MS,
  type Transition,
  replaced,
} from "./engine.ts";
import { type JournalCall, type JournalLog, UNREACHABLE } from "./journal-io.ts";
import {
  createPayout,
  dispatchBy,
  listPayouts,
  listRuns,
  retrievePayout,
  runState,
} from "./service.ts";
import { taskDecisions } from "./task-decisions.ts";
import { isFromBefore, restores, resets } from "./reset-and-restore.ts";
import type { Process, State } from "./scenario.ts";

/** Whether nothing else depends on when it is done. */
const isLocalStep = (state: State, process: Process, request: IoRequest | undefined): boolean => {
  if (request === undefined || request.io === "retrievePayout") return true;
  // What it may see of others it may see by their lag as well.
  if (request.io === "listRuns") return true;
  if (request.io !== "journal") return false;
  // Other runs ask what was made.
  // Nor does it come before the database is put back in any case.
  const isSeen = state.runs.length > 1 || state.backup !== undefined;
  if (request.call.method === "recordOutcome" && isSeen) return false;
  const { workflowId } = process.chain.root;
  // What the journal has of a workflow id is read by that workflow id alone.
  return !state.processes.some(
    (other) => other !== process && other.chain.root.workflowId === workflowId,
  );
};

const isSend = ({ chain }: Process): boolean => chain.root.type === "createPayout";

const disconnect = (state: State, process: Process): ReadonlyArray<Transition> => {
  const { attempt, seq, workflowId } = process.chain.root;
  if (!process.isConnected || !isSend(process) || state.budget.lostWorkers === 0) return [];
  const run = currentRun(state, workflowId);
  return [
    {
      label: `the worker that sends for ${workflowId} is disconnected`,
      state: {
        ...state,
        budget: { ...state.budget, lostWorkers: state.budget.lostWorkers - 1 },
        processes: replaced(state.processes, process, { ...process, isConnected: false }),
        runs: replaced(state.runs, run, {
          ...run,
          attempts: {
            ...run.attempts,
            [seq]: { attempt, nextAt: state.now + HEARTBEAT_TIMEOUT_MS },
          },
        }),
      },
    },
  ];
};

/** The journal answers, or does not; a disconnected worker may continue at any time. */
const callJournal = async (
  engine: Engine,
  state: State,
  process: Process,
  call: JournalCall,
): Promise<ReadonlyArray<Transition>> => {
  const isShared = engine.scenario.journal === "shared";
  const before = isShared ? state.journal : (process.journal ?? engine.journals.empty);
  const { answer, log } = await engine.journals.call(before, call, state.now);
  const name = `${process.isConnected ? "" : "lost worker of "}${process.chain.root.workflowId}`;
  const shown = answer === undefined ? "" : `: ${JSON.stringify(answer).slice(0, 60)}`;
  const answered = (journal: JournalLog, given: unknown, budget = state.budget): State => {
    const writer = isShared ? process : { ...process, journal };
    const after = {
      ...state,
      budget,
      journal: isShared ? journal : state.journal,
      processes: replaced(state.processes, process, writer),
    };
    if (process.isConnected) return engine.answer(after, writer, given);
    const waiting = { ...writer, coming: { answer: given } };
    return { ...after, processes: replaced(after.processes, writer, waiting) };
  };
  const next = [
    { label: `${name} calls the journal, ${call.method}${shown}`, state: answered(log, answer) },
  ];
  if (state.budget.journalFaults === 0) return next;
  const budget = { ...state.budget, journalFaults: state.budget.journalFaults - 1 };
  const failed = (journal: JournalLog, how: string): Transition => ({
    label: `${name} calls the journal, ${call.method}: no answer, ${how}`,
    state: answered(journal, UNREACHABLE, budget),
  });
  return [
    ...next,
    failed(before, "not written"),
    ...(log === before ? [] : [failed(log, "written")]),
  ];
};

const steps = async (
  engine: Engine,
  state: State,
  process: Process,
  { request, done }: AttemptState,
): Promise<ReadonlyArray<Transition>> => {
  const { type, workflowId } = process.chain.root;
  if (done !== undefined) {
    const said = "failure" in done ? done.failure.type : "done";
    const label = `${workflowId} receives the outcome of ${type}: ${said}`;
    return [{ label, state: await engine.finish(state, process, done) }];
  }
  if (process.coming !== undefined) {
    return [
      {
        label: `lost worker of ${workflowId} gets the journal's answer`,
        state: engine.answer(state, process, process.coming.answer),
      },
    ];
  }
  switch (request?.io) {
    case "createPayout":
      // What has not left the worker by now never does: its request has timed out.
      if (state.now > dispatchBy(engine, process)) return [];
      return createPayout(engine, state, process, request.payout);
    case "listPayouts":
      return listPayouts(engine, state, process);
    case "retrievePayout":
      return retrievePayout(engine, state, process, request.payoutId);
    case "listRuns":
      return listRuns(engine, state, process, request.query);
    case "runState":
      return [await runState(engine, state, process)];
    case "journal":
      return callJournal(engine, state, process, request.call);
    default:
      throw new Error(`${type} is neither done nor waits.`);
  }
};

/** Advance the time to what is due next: a timer, or the heartbeat timeout of a disconnected worker. */
const timers = async (engine: Engine, state: State): Promise<ReadonlyArray<Transition>> => {
  const due: Array<{ readonly at: number; readonly next: () => Promise<Transition> }> = [];
  for (const run of state.runs) {
    if (!run.isCurrent) continue;
    const situation = await engine.situation(run);
    if (situation.closed !== undefined) continue;
    for (const [seq, fires] of situation.timers) {
      const at = Math.max(fires, state.now);
      due.push({
        at,
        next: async () => ({
          label: `a timer of ${run.workflowId} fires`,
          state: await engine.deliver({ ...state, now: at }, run, { kind: "timer", at, seq }),
        }),
      });
    }
    for (const scheduled of situation.activities.values()) {
      const known = run.attempts[scheduled.seq];
      if (known?.nextAt === undefined) continue;
      const at = Math.max(known.nextAt, state.now);
      due.push({
        at,
        next: async () => ({
          label: `the server begins attempt ${known.attempt + 1} of ${scheduled.type} of ${run.workflowId}`,
          state: engine.start(
            { ...state, now: at },
            run.workflowId,
            situation.runId,
            scheduled,
            known.attempt + 1,
          ),
        }),
      });
    }
  }
  const first = Math.min(...due.map(({ at }) => at));
  for (const process of state.processes) {
    const { request } = await engine.attempt(process);
    const isSending = process.isConnected && request?.io === "createPayout";
    if (isSending && first > dispatchBy(engine, process)) return [];
  }
  const all: Array<Transition> = [];
  for (const { at, next } of due) if (at === first) all.push(await next());
  return all;
};

/** Runs are started one after the other, each at any time. */
const starts = async (engine: Engine, state: State): Promise<ReadonlyArray<Transition>> => {
  const workflowId = Object.keys(engine.scenario.runs).find(
    (id) => !state.runs.some((run) => run.workflowId === id),
  );
  return workflowId === undefined
    ? []
    : [{ label: `${workflowId} is started`, state: await engine.startRun(state, workflowId) }];
};

/** Runs are cancelled. */
const cancels = async (engine: Engine, state: State): Promise<ReadonlyArray<Transition>> => {
  if (state.budget.cancels === 0) return [];
  const budget = { ...state.budget, cancels: state.budget.cancels - 1 };
  const next: Array<Transition> = [];
  for (const run of state.runs) {
    const { closed } = await engine.situation(run);
    if (!run.isCurrent || closed !== undefined) continue;
    next.push({
      label: `${run.workflowId} is cancelled`,
      state: await engine.deliver({ ...state, budget }, run, { kind: "cancel", at: state.now }),
    });
  }
  return next;
};

/**
 * Answer at once, as a server that does not know of an end yet, whoever asks whether its run is open: the
 * answer that permits most. A worker that lives through a restore gets the true one, in a step of its own.
 */
const withRunStates = async (engine: Engine, state: State): Promise<State> => {
  let next = state;
  for (const process of state.processes) {
    if (isFromBefore(engine, state, process)) continue;
    const { request } = await engine.attempt(process);
    if (request?.io === "runState") next = engine.answer(next, process, "open");
  }
  return next;
};

/** Everything that can happen next. */
export const transitionsOf = async (
  engine: Engine,
  state: State,
): Promise<ReadonlyArray<Transition>> => {
  const all = await allTransitions(engine, state);
  const next: Array<Transition> = [];
  for (const one of all) {
    next.push({ ...one, state: await withRunStates(engine, one.state) });
  }
  return next;
};

const allTransitions = async (engine: Engine, state: State): Promise<ReadonlyArray<Transition>> => {
  // One after the other, here as below: only one execution can run at a time.
  const processes: Array<{ readonly process: Process; readonly at: AttemptState }> = [];
  for (const process of state.processes) {
    processes.push({ process, at: await engine.attempt(process) });
  }
  const own = processes.find(
    ({ at, process }) => process.isConnected && isLocalStep(state, process, at.request),
  );
  if (own !== undefined) {
    // Whatever else can happen can happen after it as well.
    return [
      ...(await steps(engine, state, own.process, own.at)),
      ...disconnect(state, own.process),
      // But for a copy of what is before it.
      ...(state.backup === undefined ? await restores(engine, state) : []),
    ];
  }
  const next: Array<Transition> = [];
  for (const { at, process } of processes) {
    next.push(...(await steps(engine, state, process, at)), ...disconnect(state, process));
  }
  next.push(
    ...(await starts(engine, state)),
    ...(await timers(engine, state)),
    ...(await taskDecisions(engine, state)),
    ...(await cancels(engine, state)),
    ...(await resets(engine, state)),
    ...(await restores(engine, state)),
  );
  return next;
};
