import { makeActivities } from "./activity-execution.ts";
import { ActivityStates, type AttemptState } from "./activity-states.ts";
import { type JournalLog, JournalStates } from "./journal-io.ts";
import type { ActivityOutcome, RunEvent } from "./run-history.ts";
import { RunSituations, type Scheduled, type Situation } from "./run-situations.ts";
import type { Process, RunRecord, State, Scenario } from "./scenario.ts";
import { BEGIN, workflowOf } from "./scenario.ts";

/** Heartbeats that are missed for so long lose an attempt to the server. */
export const HEARTBEAT_TIMEOUT_MS = 15_000;

/** Time until an attempt that failed is repeated. */
const RETRY_AFTER_MS = 1_000;

/** One thing that can happen, and the state after it. */
export interface Transition {
  readonly label: string;
  readonly state: State;
}

/** Replaces the one of `items` that is `old`. */
export const replaced = <A>(items: ReadonlyArray<A>, old: A, now: A): ReadonlyArray<A> =>
  items.map((item) => (item === old ? now : item));

/** The rules of a server and its workers, over the code that they execute. */
export class Engine {
  readonly scenario: Scenario;
  readonly situations: RunSituations;
  readonly activities: ActivityStates;
  readonly journals = new JournalStates();

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    this.situations = new RunSituations(workflowOf(scenario));
    this.activities = new ActivityStates(makeActivities(scenario.service));
  }

  /** The state in which the first run starts. */
  begin(): Promise<State> {
    return this.startRun(
      {
        now: BEGIN,
        ledger: [],
        runs: [],
        backup: undefined,
        processes: [],
        journal: this.journals.empty,
        budget: this.scenario.budget,
      },
      Object.keys(this.scenario.runs)[0] ?? "",
    );
  }

  /** Start the run of a workflow id. */
  startRun(state: State, workflowId: string): Promise<State> {
    const run = {
      workflowId,
      chain: this.situations.chains.root({ workflowId, startedAt: state.now }),
      isCurrent: true,
      oldestShown: -1,
      attempts: {},
    };
    return this.deliver({ ...state, runs: [...state.runs, run] }, run, {
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

  /** Deliver an event to a run, and execute at once what follows from it without delay. */
  async deliver(state: State, run: RunRecord, event: RunEvent): Promise<State> {
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
      const completed: RunEvent = {
        kind: "activity",
        at: event.at,
        seq: local.seq,
        outcome: done.outcome,
      };
      now = { ...now, chain: this.situations.chains.add(now.chain, completed) };
      situation = await this.situation(now);
    }
    const attempts = Object.fromEntries(
      Object.entries(now.attempts).filter(([seq]) => situation.activities.has(Number(seq))),
    );
    // Without one that workers share, what an activity writes is lost with it.
    const kept = this.scenario.journal === "shared" ? journal : state.journal;
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
      // A reset without a retry instruction: what the run sent after it is not known.
      return { outcome: { result: { runId, instruction: null, isOutdated: true } }, journal };
    }
    const root = { workflowId, runId, seq, attempt: 1, type, args, startedAt, startToCloseMs };
    let chain = this.activities.chains.root(root);
    for (;;) {
      const { request, done } = await this.activities.of(chain);
      if (done !== undefined) return { outcome: done, journal };
      if (request?.io !== "journal")
        throw new Error(`The local activity ${type} requests more than the journal.`);
      const { answer, log } = await this.journals.call(journal, request.call, startedAt);
      journal = log;
      chain = this.activities.chains.add(chain, { at: startedAt, answer });
    }
  }

  /** Let workers begin what is scheduled in the current run of a workflow id. */
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

  /** Let a worker begin an attempt. */
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

  /** Answer the request of an attempt. */
  answer(state: State, process: Process, answer: unknown): State {
    const chain = this.activities.chains.add(process.chain, { at: state.now, answer });
    const { coming: _, ...rest } = process;
    return { ...state, processes: replaced(state.processes, process, { ...rest, chain }) };
  }

  /** Take the outcome of an attempt. */
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
    return this.deliver(without, run, { kind: "activity", at: state.now, seq, outcome });
  }
}

/** The latest run of a workflow id. */
export const currentRun = (state: State, workflowId: string): RunRecord => {
  const run = state.runs.find((one) => one.workflowId === workflowId && one.isCurrent);
  if (run === undefined) throw new Error(`There is no run of ${workflowId}.`);
  return run;
};
