import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { money } from "../evidence/exact-amount.ts";
import type { Stillness } from "../faults/process-faults.ts";
import type { ChaosOptions } from "../options.ts";
import { pause } from "../delay.ts";
import { LATE_FUNDS, type PlannedRun } from "../plan/planned-run.ts";
import { Random } from "../plan/random.ts";
import { idsIn } from "../evidence/in-doubt.ts";
import { SimulatorSilent } from "../environment/simulator-control.ts";
import type { Told } from "../environment/starter-command.ts";
import type { World } from "../environment/environment.ts";

/** A time in which nothing may have been written, in milliseconds since 1970. */
export interface Pause {
  readonly from: number;
  readonly to: number;
}

/** What people did, counted. */
export interface OperatorCounts {
  cancelled: number;
  terminated: number;
  retried: number;
  retriedInBulk: number;
  /** Retries of a run that was abandoned, without the flag that it takes: each must be refused. */
  refusedRetries: number;
  pauses: number;
}

const NAME = "chaos operator";

const PAUSED_MS = 4_000;

/**
 * From the answer of `starter pause` on: a worker uses an answer of the Temporal server for half a
 * second, and what was sent before is on its way.
 */
export const PAUSE_TAKES_HOLD_MS = 1_500;

/** The share of the work after which sends are paused, and failed runs retried for the first time. */
const PAUSE_AT = 0.35;
const RETRY_AT = 0.55;

/** The people who end, retry and pause runs, by the starter alone. */
export class Operator {
  readonly #world: World;
  readonly #runs: readonly PlannedRun[];
  readonly #random: Random;
  readonly #complaints: string[] = [];
  readonly #pauses: Pause[] = [];
  readonly counts: OperatorCounts = {
    cancelled: 0,
    terminated: 0,
    retried: 0,
    retriedInBulk: 0,
    refusedRetries: 0,
    pauses: 0,
  };
  /** When runs were told to end, by their ids; without those that were retried by name since. */
  readonly ended = new Map<string, number>();
  /** Whether what was unfunded has been funded. */
  isFunded = false;
  readonly #stillness: Stillness;

  constructor(
    world: World,
    runs: readonly PlannedRun[],
    { seed }: ChaosOptions,
    stillness: Stillness,
  ) {
    this.#world = world;
    this.#stillness = stillness;
    this.#runs = runs;
    this.#random = new Random(seed, "operator");
  }

  /** Commands that did not do what they must. */
  get complaints(): readonly string[] {
    return this.#complaints;
  }

  get pauses(): readonly Pause[] {
    return this.#pauses;
  }

  /** Ends a run that has been started, where that is planned. */
  async endAsPlanned({ order, workflowId }: PlannedRun, over: AbortSignal): Promise<void> {
    if (order?.kind !== "cancel" && order?.kind !== "terminate") return;
    await pause(order.afterMs, over);
    const args = ["runs", order.kind, workflowId, "--reason", "planned", "--by", NAME];
    const told = await this.#world.starter.runUntilReached(args, over);
    // It had ended before: nothing was done.
    if (told === undefined || told.code === 2) return;
    this.#expect(told, 0, args);
    this.ended.set(workflowId, Date.now());
    if (order.kind === "cancel") this.counts.cancelled += 1;
    else this.counts.terminated += 1;
  }

  /** Pauses sends for a while, funds what was not funded, and retries what has failed so far. */
  async intervene(workDone: () => number, over: AbortSignal): Promise<void> {
    await this.#until(() => workDone() >= PAUSE_AT, over);
    await this.#pauseForAWhile(over);
    await this.#until(() => workDone() >= RETRY_AT, over);
    await this.fund(over);
    await this.retryFailed(over);
  }

  /** Retries all that people want retried, one by one, then in bulk. */
  async cleanUp(over: AbortSignal): Promise<void> {
    for (const run of this.#runs) {
      if (over.aborted) return;
      await this.#retryAsPlanned(run, over);
    }
    await this.retryFailed(over);
  }

  /** `starter runs retry --failed`: all that failed, and nothing that a person has ended. */
  async retryFailed(over: AbortSignal): Promise<void> {
    const args = ["runs", "retry", "--failed", "--yes", "--reason", "outage", "--rate", "20"];
    const told = await this.#world.starter.runUntilReached([...args, "--by", NAME], over);
    // 1: some cannot be retried as they are: they were undone, say.
    if (told === undefined) return;
    if (told.code !== 1) this.#expect(told, 0, args);
    this.counts.retriedInBulk += Number(told.answer["retried"] ?? 0);
  }

  async #retryAsPlanned({ order, workflowId }: PlannedRun, over: AbortSignal): Promise<void> {
    if (order === undefined || ("thenRetry" in order && !order.thenRetry)) return;
    if (order.kind === "cancel" || order.kind === "terminate") {
      if (!this.ended.has(workflowId)) return;
    }
    const args = ["runs", "retry", workflowId, "--reason", "planned", "--by", NAME];
    if (order.kind === "retry" && order.amend !== undefined) {
      const folder = await mkdtemp(join(this.#world.folder, "amend-"));
      const patch = join(folder, "patch.json");
      await writeFile(patch, JSON.stringify(order.amend));
      args.push("--amend", patch);
    }
    const told = await this.#world.starter.runUntilReached(args, over);
    if (told === undefined) return;
    if (order.kind === "abandon") {
      if (told.code === 2) this.counts.refusedRetries += 1;
      return;
    }
    // 2: it completed, goes on already, or was undone.
    if (told.code === 2) return;
    this.#expect(told, 0, args);
    this.ended.delete(workflowId);
    this.counts.retried += 1;
  }

  /** `starter resume`; undefined when it is over before. */
  async resume(over: AbortSignal): Promise<void> {
    const args = ["resume", "--by", NAME];
    const resumed = await this.#world.starter.runUntilReached(args, over);
    if (resumed !== undefined) this.#expect(resumed, 0, args);
  }

  /** `starter pause`; false when it is over before. */
  async pause(over: AbortSignal): Promise<boolean> {
    const args = ["pause", "the bank reports duplicates", "--by", NAME];
    const paused = await this.#world.starter.runUntilReached(args, over);
    if (paused !== undefined) this.#expect(paused, 0, args);
    return paused !== undefined;
  }

  /** `starter recover`, which pauses sends: ids of the runs that Temporal has lost. */
  async recover(since: Date, over: AbortSignal): Promise<readonly string[]> {
    const args = ["recover", "--since", since.toISOString(), "--by", NAME];
    const told = await this.#world.starter.runUntilReached(args, over);
    if (told === undefined) return [];
    // 1: sends stay paused, until what is not clear has been looked at.
    this.#expect(told, 1, args);
    const { lost } = told.answer;
    return idsIn(lost);
  }

  async #pauseForAWhile(over: AbortSignal): Promise<void> {
    this.#stillness.isPausing = true;
    try {
      await this.#until(() => this.#stillness.frozen === 0, over);
      if (!(await this.pause(over))) return;
      const from = Date.now() + PAUSE_TAKES_HOLD_MS;
      await pause(PAUSE_TAKES_HOLD_MS + PAUSED_MS + this.#random.int(0, 2_000), over);
      const to = Date.now();
      this.#pauses.push({ from, to });
      this.counts.pauses += 1;
    } finally {
      // Also when it is over: what is paused would never end.
      await this.resume(AbortSignal.timeout(60_000));
      this.#stillness.isPausing = false;
    }
  }

  /** Pays into the balance that was empty. */
  async fund(over: AbortSignal): Promise<void> {
    while (!this.isFunded && !over.aborted) {
      try {
        // An order whose answer was lost is not given again.
        const { balances } = await this.#world.control.ledger();
        const held = balances.find(({ currency }) => currency === LATE_FUNDS.currency);
        if (held === undefined || money(held.available_balance) === 0n) {
          await this.#world.control.fund(LATE_FUNDS.currency, LATE_FUNDS.amount);
        }
        this.isFunded = true;
      } catch (error) {
        if (!(error instanceof SimulatorSilent)) throw error;
        await pause(300, over);
      }
    }
  }

  async #until(isTime: () => boolean, over: AbortSignal): Promise<void> {
    while (!isTime() && !over.aborted) await pause(200, over);
  }

  #expect({ code, text }: Told, expected: number, args: readonly string[]): void {
    if (code === expected) return;
    this.#complaints.push(`starter ${args.join(" ")} ended with exit code ${code}: ${text}`);
  }
}
