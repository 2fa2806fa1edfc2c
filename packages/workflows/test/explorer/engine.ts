import { makeActivities } from "./activity-execution.ts";
import { ActivityStates, type AttemptState } from "./activity-states.ts";
import { type JournalLog, JournalStates } from "./journal-io.ts";
import type { ActivityOutcome, RunEvent } from "./run-history.ts";
import { RunSituations, type Scheduled, type Situation } from "./run-situations.ts";
import type { Process, RunRecord, State, World } from "./world.ts";
import { BEGIN, workflowOf } from "./world.ts";

/** Heartbeats that are missed for so long lose an attempt to the server. */
export const HEARTBEAT_TIMEOUT_MS = 15_000;

/** Time until an attempt that failed is repeated. */
const RETRY_AFTER_MS = 1_000;

/** One thing that can happen, and what it leads to. */
export interface Next {
  readonly label: string;
  readonly state: State;
}

/** Replaces the one of `items` that is `old`. */
export const replaced = <A>(items: ReadonlyArray<A>, old: A, now: A): ReadonlyArray<A> =>
  items.map((item) => (item === old ? now : item));

/** The rules of a server and its workers, over the code that they execute. */
export class Engine {
  readonly world: World;
  readonly situations: RunSituations;
  readonly activities: ActivityStates;
  readonly journals = new JournalStates();

  constructor(world: World) {
    this.world = world;
    this.situations = new RunSituations(workflowOf(world));
    this.activities = new ActivityStates(makeActivities(world.service));
  }

  /** The world before the first run. */
  begin(): Promise<State> {
    return this.startRun(
      {
        now: BEGIN,
        ledger: [],
        runs: [],
        backup: undefined,
        processes: [],
        journal: this.journals.empty,
        budget: this.world.budget,
      },
      Object.keys(this.world.runs)[0] ?? "",
    );
  }

  /** Starts the run of a workflow id. */
  startRun(state: State, workflowId: string): Promise<State> {
    const run = {
      workflowId,
      chain: this.situations.chains.root({ workflowId, startedAt: state.now }),
      isCurrent: true,
      oldestShown: -1,
      attempts: {},
    };
    return this.tell({ ...state, runs: [...state.runs, run] }, run, {
      kind: "start",
      at: state.now,
    });
  }

  situation(run: RunRecord): Promise<Situation> {
    return this.situations.of(run.chain);
  }

  attempt(process: Process): Promise<AttemptState> {
    return this.activities.of(process.chain);
  }

  /** Tells a run something, and has done at once what follows from it without delay. */
  async tell(state: State, run: RunRecord, event: RunEvent): Promise<State> {
    let now = { ...run, chain: this.situations.chains.add(run.chain, event) };
    let situation = await this.situation(now);
    let { journal } = state;
    // Local activities are done within the activation that asks for them.
    for (;;) {
      const local = [...situation.activities.values()].find(({ isLocal }) => isLocal);
      if (local === undefined) break;
      const done = await this.#doLocally(local, {
        journal,
        run: now,
        situation,
        startedAt: event.at,
      });
      ({ journal } = done);
      const told: RunEvent = {
        kind: "activity",
        at: event.at,
        seq: local.seq,
        outcome: done.outcome,
      };
      now = { ...now, chain: this.situations.chains.add(now.chain, told) };
      situation = await this.situation(now);
    }
    const attempts = Object.fromEntries(
      Object.entries(now.attempts).filter(([seq]) => situation.activities.has(Number(seq))),
    );
    // Without one that workers share, what an activity writes is lost with it.
    const kept = this.world.journal === "shared" ? journal : state.journal;
    return this.startAll(
      { ...state, journal: kept, runs: replaced(state.runs, run, { ...now, attempts }) },
      now.workflowId,
    );
  }

  async #doLocally(
    { args, seq, startToCloseMs, type }: Scheduled,
    {
      journal: before,
      run: { workflowId },
      situation: { runId },
      startedAt,
    }: {
      readonly journal: JournalLog;
      readonly run: RunRecord;
      readonly situation: Situation;
      readonly startedAt: number;
    },
  ): Promise<{ readonly outcome: ActivityOutcome; readonly journal: JournalLog }> {
    let journal = before;
    if (type === "readRetryInstruction") {
      // A reset that no order tells of: what the run sent after it is not known.
      return { outcome: { result: { runId, order: null, isOutdated: true } }, journal };
    }
    const root = { workflowId, runId, seq, attempt: 1, type, args, startedAt, startToCloseMs };
    let chain = this.activities.chains.root(root);
    for (;;) {
      const { asked, done } = await this.activities.of(chain);
      if (done !== undefined) return { outcome: done, journal };
      if (asked?.io !== "journal") throw new Error(`The local activity ${type} asks this world.`);
      const { answer, log } = await this.journals.call(journal, asked.call, startedAt);
      journal = log;
      chain = this.activities.chains.add(chain, { at: startedAt, answer });
    }
  }

  /** Has workers begin what is scheduled in the current run of a workflow id. */
  async startAll(state: State, workflowId: string): Promise<State> {
    const run = currentRun(state, workflowId);
    const situation = await this.situation(run);
    let next = state;
    for (const scheduled of situation.activities.values()) {
      if (run.attempts[scheduled.seq] !== undefined) continue;
      next = this.start(next, workflowId, situation.runId, scheduled, 1);
    }
    return next;
  }

  /** Has a worker begin an attempt. */
  start(
    state: State,
    workflowId: string,
    runId: string,
    { args, seq, startToCloseMs, type }: Scheduled,
    attempt: number,
  ): State {
    const run = currentRun(state, workflowId);
    const chain = this.activities.chains.root({
      workflowId,
      runId,
      seq,
      attempt,
      type,
      args,
      startedAt: state.now,
      startToCloseMs,
    });
    return {
      ...state,
      runs: replaced(state.runs, run, {
        ...run,
        attempts: { ...run.attempts, [seq]: { attempt } },
      }),
      processes: [...state.processes, { chain, isConnected: true }],
    };
  }

  /** Answers what an attempt has asked. */
  answer(state: State, process: Process, answer: unknown): State {
    const chain = this.activities.chains.add(process.chain, { at: state.now, answer });
    const { coming: _, ...rest } = process;
    return { ...state, processes: replaced(state.processes, process, { ...rest, chain }) };
  }

  /** Takes what an attempt came to. */
  async finish(state: State, process: Process, outcome: ActivityOutcome): Promise<State> {
    const without = { ...state, processes: state.processes.filter((other) => other !== process) };
    if (!process.isConnected) return without;
    const { seq, workflowId } = process.chain.root;
    const run = currentRun(state, workflowId);
    if ("failure" in outcome && !outcome.failure.nonRetryable) {
      const known = { attempt: process.chain.root.attempt, nextAt: state.now + RETRY_AFTER_MS };
      const attempts = { ...run.attempts, [seq]: known };
      return { ...without, runs: replaced(state.runs, run, { ...run, attempts }) };
    }
    return this.tell(without, run, { kind: "activity", at: state.now, seq, outcome });
  }
}

/** The latest run of a workflow id. */
export const currentRun = (state: State, workflowId: string): RunRecord => {
  const run = state.runs.find((one) => one.workflowId === workflowId && one.isCurrent);
  if (run === undefined) throw new Error(`There is no run of ${workflowId}.`);
  return run;
};
