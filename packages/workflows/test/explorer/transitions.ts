import type { Asked } from "./activity-execution.ts";
import type { AttemptState } from "./activity-states.ts";
import { currentRun, type Engine, HEARTBEAT_TIMEOUT_MS, type Next, replaced } from "./engine.ts";
import { type JournalCall, type JournalLog, UNREACHABLE } from "./journal-io.ts";
import { createPayout, dispatchBy, listPayouts, listRuns, retrievePayout } from "./service.ts";
import { decisions } from "./person.ts";
import { restores, resets } from "./set-back.ts";
import type { Process, State } from "./world.ts";

/** Whether nothing else in the world can tell when it is done. */
const isPrivate = (state: State, process: Process, asked: Asked | undefined): boolean => {
  if (asked === undefined || asked.io === "retrievePayout") return true;
  // What it may see of others it may see by their lag as well.
  if (asked.io === "listRuns") return true;
  if (asked.io !== "journal") return false;
  // Other runs ask what was made.
  // Nor does it come before the database is put back in any case.
  const isSeen = state.runs.length > 1 || state.backup !== undefined;
  if (asked.call.method === "settle" && isSeen) return false;
  const { workflowId } = process.chain.root;
  // What the journal has of a workflow id is asked by that workflow id alone.
  return !state.processes.some(
    (other) => other !== process && other.chain.root.workflowId === workflowId,
  );
};

const isSend = ({ chain }: Process): boolean => chain.root.type === "createPayout";

const cutOff = (state: State, process: Process): ReadonlyArray<Next> => {
  const { attempt, seq, workflowId } = process.chain.root;
  if (!process.isConnected || !isSend(process) || state.budget.lostWorkers === 0) return [];
  const run = currentRun(state, workflowId);
  return [
    {
      label: `the worker that sends for ${workflowId} is cut off`,
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

/** The journal answers, or does not; a worker that was cut off may take its time to go on. */
const callJournal = async (
  engine: Engine,
  state: State,
  process: Process,
  call: JournalCall,
): Promise<ReadonlyArray<Next>> => {
  const isShared = engine.world.journal === "shared";
  const before = isShared ? state.journal : (process.journal ?? engine.journals.empty);
  const { answer, log } = await engine.journals.call(before, call, state.now);
  const name = `${process.isConnected ? "" : "lost worker of "}${process.chain.root.workflowId}`;
  const said = answer === undefined ? "" : `: ${JSON.stringify(answer).slice(0, 60)}`;
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
    { label: `${name} calls the journal, ${call.method}${said}`, state: answered(log, answer) },
  ];
  if (state.budget.journalFaults === 0) return next;
  const budget = { ...state.budget, journalFaults: state.budget.journalFaults - 1 };
  const failed = (journal: JournalLog, how: string): Next => ({
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
  { asked, done }: AttemptState,
): Promise<ReadonlyArray<Next>> => {
  const { type, workflowId } = process.chain.root;
  if (done !== undefined) {
    const said = "failure" in done ? done.failure.type : "done";
    const label = `${workflowId} is told of ${type}: ${said}`;
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
  switch (asked?.io) {
    case "createPayout":
      // What has not left the worker by now never does: its request has come to its end.
      if (state.now > dispatchBy(engine, process)) return [];
      return createPayout(engine, state, process, asked.request);
    case "listPayouts":
      return listPayouts(engine, state, process);
    case "retrievePayout":
      return retrievePayout(engine, state, process, asked.payoutId);
    case "listRuns":
      return listRuns(engine, state, process, asked.query);
    case "journal":
      return callJournal(engine, state, process, asked.call);
    default:
      throw new Error(`${type} is neither done nor waits.`);
  }
};

/** Time goes on to what is due next: a timer, or the end of the server's patience with a lost worker. */
const timers = async (engine: Engine, state: State): Promise<ReadonlyArray<Next>> => {
  const due: Array<{ readonly at: number; readonly next: () => Promise<Next> }> = [];
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
          state: await engine.tell({ ...state, now: at }, run, { kind: "timer", at, seq }),
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
    const { asked } = await engine.attempt(process);
    const isSending = process.isConnected && asked?.io === "createPayout";
    if (isSending && first > dispatchBy(engine, process)) return [];
  }
  const all: Array<Next> = [];
  for (const { at, next } of due) if (at === first) all.push(await next());
  return all;
};

/** Runs are started one after the other, each at any time. */
const starts = async (engine: Engine, state: State): Promise<ReadonlyArray<Next>> => {
  const workflowId = Object.keys(engine.world.runs).find(
    (id) => !state.runs.some((run) => run.workflowId === id),
  );
  return workflowId === undefined
    ? []
    : [{ label: `${workflowId} is started`, state: await engine.startRun(state, workflowId) }];
};

/** Runs are cancelled. */
const cancels = async (engine: Engine, state: State): Promise<ReadonlyArray<Next>> => {
  if (state.budget.cancels === 0) return [];
  const budget = { ...state.budget, cancels: state.budget.cancels - 1 };
  const next: Array<Next> = [];
  for (const run of state.runs) {
    const { closed } = await engine.situation(run);
    if (!run.isCurrent || closed !== undefined) continue;
    next.push({
      label: `${run.workflowId} is cancelled`,
      state: await engine.tell({ ...state, budget }, run, { kind: "cancel", at: state.now }),
    });
  }
  return next;
};

/** Everything that can happen next. */
export const nextOf = async (engine: Engine, state: State): Promise<ReadonlyArray<Next>> => {
  // One after the other, here as below: one execution goes on at a time.
  const processes: Array<{ readonly process: Process; readonly at: AttemptState }> = [];
  for (const process of state.processes) {
    processes.push({ process, at: await engine.attempt(process) });
  }
  const own = processes.find(
    ({ at, process }) => process.isConnected && isPrivate(state, process, at.asked),
  );
  if (own !== undefined) {
    // Whatever else can happen can happen after it as well.
    return [
      ...(await steps(engine, state, own.process, own.at)),
      ...cutOff(state, own.process),
      // But for a copy of what is before it.
      ...(state.backup === undefined ? await restores(engine, state) : []),
    ];
  }
  const next: Array<Next> = [];
  for (const { at, process } of processes) {
    next.push(...(await steps(engine, state, process, at)), ...cutOff(state, process));
  }
  next.push(
    ...(await starts(engine, state)),
    ...(await timers(engine, state)),
    ...(await decisions(engine, state)),
    ...(await cancels(engine, state)),
    ...(await resets(engine, state)),
    ...(await restores(engine, state)),
  );
  return next;
};
