import type { HumanTask } from "@durable-payments/protocol";
import { type Chain, Chains, entriesOf, type RunEvent } from "./run-history.ts";
import { type Command, WorkflowExecution } from "./workflow-execution.ts";

/** How a run began. */
export interface RunStart {
  readonly workflowId: string;
  readonly startedAt: number;
}

/** A run's history. */
export type RunChain = Chain<RunStart, RunEvent>;

/** An activity that a run awaits. */
export type Scheduled = Extract<Command, { readonly kind: "activity" }> & { readonly at: number };

/** How a run has ended. */
type Closing = Extract<Command, { readonly kind: "cancelled" | "completed" | "failed" }>;

const isClosing = (command: Command): command is Closing =>
  command.kind === "cancelled" || command.kind === "completed" || command.kind === "failed";

/** The situation of a run after its history: all that the server and a person know of it. */
export interface Situation {
  readonly runId: string;
  /** Activities without an outcome, by their number. */
  readonly activities: ReadonlyMap<number, Scheduled>;
  /** When timers fire, by their number. */
  readonly timers: ReadonlyMap<number, number>;
  /** PaymentIds as they were written, the oldest first. */
  readonly written: ReadonlyArray<{ readonly at: number; readonly ids: ReadonlyArray<string> }>;
  readonly closed: Closing | undefined;
  readonly question: HumanTask | undefined;
  /** The step that the run is in. */
  readonly step: string;
  /** What its steps say they have made. */
  readonly taken: ReadonlyArray<{ readonly step: string; readonly payoutId: string }>;
  /** Steps that a person has ended. */
  readonly abandoned: ReadonlyArray<string>;
  /** Steps of which it says that their outcome is not known. */
  readonly inDoubt: ReadonlyArray<string>;
  /** Questions so far. */
  readonly asked: number;
}

const nothing = (runId: string): Situation => ({
  runId,
  activities: new Map(),
  timers: new Map(),
  written: [],
  closed: undefined,
  question: undefined,
  step: "",
  taken: [],
  abandoned: [],
  inDoubt: [],
  asked: 0,
});

const takenIn = (audit: WorkflowExecution["shown"]["audit"]): Situation["taken"] =>
  audit.flatMap(({ detail, step, what }) => {
    const id = detail?.["payout_id"];
    return what.startsWith("known") && typeof id === "string" ? [{ step, payoutId: id }] : [];
  });

interface Live {
  chain: RunChain;
  readonly execution: WorkflowExecution;
}

/** Executions that are kept to be continued. */
const MOST_LIVE = 400;

/**
 * Finds the situation of a run after a history, by executing its code: once for each history, as the
 * code is to depend on nothing else.
 */
export class RunSituations {
  readonly chains = new Chains<RunStart, RunEvent>();
  readonly #known = new Map<number, Situation>();
  readonly #patches = new Map<number, ReadonlyArray<string>>();
  readonly #live = new Map<number, Live>();
  readonly #workflowOf: (workflowId: string) => () => Promise<unknown>;
  activations = 0;

  constructor(workflowOf: (workflowId: string) => () => Promise<unknown>) {
    this.#workflowOf = workflowOf;
  }

  /** The situation of a run. */
  async of(chain: RunChain): Promise<Situation> {
    const known = this.#known.get(chain.id);
    if (known !== undefined) return known;
    const { entry, parent } = chain;
    if (entry === undefined || parent === undefined) {
      return this.#keep(chain, nothing(`${chain.root.workflowId}/1`), []);
    }
    const before = await this.of(parent);
    if (entry.kind === "reset") {
      return this.#keep(
        chain,
        { ...before, runId: entry.runId },
        this.#patches.get(parent.id) ?? [],
      );
    }
    const live = await this.#executionAt(parent);
    const commands = await this.#activate(live.execution, entry);
    live.chain = chain;
    this.#live.set(chain.id, live);
    this.#forget();
    const patches = commands.flatMap((command) => (command.kind === "patch" ? [command.id] : []));
    return this.#keep(chain, after(before, entry, commands, live.execution.shown), [
      ...(this.#patches.get(parent.id) ?? []),
      ...patches,
    ]);
  }

  #keep(chain: RunChain, situation: Situation, patches: ReadonlyArray<string>): Situation {
    this.#known.set(chain.id, situation);
    this.#patches.set(chain.id, patches);
    return situation;
  }

  async #activate(execution: WorkflowExecution, event: RunEvent): Promise<ReadonlyArray<Command>> {
    this.activations += 1;
    return execution.activate(event);
  }

  /** An execution that has this history: one that is kept, or a new one. */
  async #executionAt(chain: RunChain): Promise<Live> {
    const kept = this.#live.get(chain.id);
    if (kept !== undefined) {
      this.#live.delete(chain.id);
      return kept;
    }
    const { startedAt, workflowId } = chain.root;
    const events = entriesOf(chain);
    const resetAt = events.findLastIndex(({ kind }) => kind === "reset");
    const delivered = events.filter(({ kind }) => kind !== "reset");
    let atReset: RunChain | undefined = chain;
    while (atReset !== undefined && atReset.entry?.kind !== "reset") atReset = atReset.parent;
    const execution = new WorkflowExecution(
      {
        workflowId,
        runId: atReset?.entry?.kind === "reset" ? atReset.entry.runId : `${workflowId}/1`,
        firstRunId: `${workflowId}/1`,
        startedAt,
        copied: events.slice(0, resetAt + 1).filter(({ kind }) => kind !== "reset").length,
        patches: atReset === undefined ? [] : (this.#patches.get(atReset.id) ?? []),
      },
      this.#workflowOf(workflowId),
    );
    for (const event of delivered) await this.#activate(execution, event);
    return { chain, execution };
  }

  #forget(): void {
    for (const id of this.#live.keys()) {
      if (this.#live.size <= MOST_LIVE) return;
      this.#live.delete(id);
    }
  }
}

const after = (
  before: Situation,
  event: RunEvent,
  commands: ReadonlyArray<Command>,
  { audit, ids, inDoubt, progress }: WorkflowExecution["shown"],
): Situation => {
  const activities = new Map(before.activities);
  const timers = new Map(before.timers);
  if (event.kind === "activity") activities.delete(event.seq);
  if (event.kind === "timer") timers.delete(event.seq);
  let { closed } = before;
  for (const command of commands) {
    if (command.kind === "activity") activities.set(command.seq, { ...command, at: event.at });
    if (command.kind === "timer") timers.set(command.seq, event.at + command.afterMs);
    if (command.kind === "cancelTimer") timers.delete(command.seq);
    if (isClosing(command)) closed = command;
  }
  const written = before.written.at(-1)?.ids.join(" ") === ids.join(" ");
  return {
    runId: before.runId,
    activities,
    timers,
    written: written ? before.written : [...before.written, { at: event.at, ids }],
    closed,
    question: closed === undefined ? progress.attention : undefined,
    step: progress.steps.at(-1)?.name ?? "",
    taken: takenIn(audit),
    abandoned: audit.flatMap(({ step, what }) => (what === "abandon" ? [step] : [])),
    inDoubt,
    asked: audit.filter(({ what }) => what === "asked").length,
  };
};
