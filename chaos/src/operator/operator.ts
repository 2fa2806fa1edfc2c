import { isZero } from "effect/BigDecimal";
import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAmount } from "../evidence/exact-amount.ts";
import type { FreezeCoordination } from "../faults/process-faults.ts";
import type { ChaosOptions } from "../options.ts";
import { delay } from "../delay.ts";
import { callUntilAnswered } from "../environment/temporal-calls.ts";
import { LATE_FUNDS, type PlannedRun } from "../plan/planned-run.ts";
import { Random } from "../plan/random.ts";
import { SimulatorUnavailable } from "../environment/simulator-control.ts";
import { type CommandResult, workflowIdsIn } from "../environment/starter-command.ts";
import type { Environment } from "../environment/environment.ts";

/** A time in which nothing may have been written, in milliseconds since 1970. */
export interface PauseWindow {
  readonly from: number;
  readonly to: number;
}

/** How often people intervened, and how. */
export interface OperatorCounts {
  cancelled: number;
  terminated: number;
  retried: number;
  retriedTogether: number;
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
const PAUSE_TAKES_HOLD_MS = 1_500;

/** The share of the work after which sends are paused, and failed runs retried for the first time. */
const PAUSE_AT = 0.35;
const RETRY_AT = 0.55;

/** The people who cancel, terminate and retry runs and pause sends, by the starter alone. */
export class Operator {
  readonly #environment: Environment;
  readonly #runs: readonly PlannedRun[];
  readonly #random: Random;
  readonly #unexpectedExits: string[] = [];
  readonly #pauses: PauseWindow[] = [];
  readonly counts: OperatorCounts = {
    cancelled: 0,
    terminated: 0,
    retried: 0,
    retriedTogether: 0,
    refusedRetries: 0,
    pauses: 0,
  };
  /** When runs were cancelled or terminated, by their ids; without those that were retried by id since. */
  readonly ended = new Map<string, number>();
  /** Whether the balance that was empty has been funded. */
  isFunded = false;
  readonly #coordination: FreezeCoordination;

  constructor(
    environment: Environment,
    runs: readonly PlannedRun[],
    { seed }: ChaosOptions,
    coordination: FreezeCoordination,
  ) {
    this.#environment = environment;
    this.#coordination = coordination;
    this.#runs = runs;
    this.#random = new Random(seed, "operator");
  }

  /** Commands that ended with an exit code that they must not have. */
  get unexpectedExits(): readonly string[] {
    return this.#unexpectedExits;
  }

  get pauses(): readonly PauseWindow[] {
    return this.#pauses;
  }

  /** Cancel or terminate a run that has been started, where that is planned. */
  async endAsPlanned({ intervention, workflowId }: PlannedRun, signal: AbortSignal): Promise<void> {
    if (intervention?.kind !== "cancel" && intervention?.kind !== "terminate") return;
    await delay(intervention.afterMs, signal);
    const args = ["runs", intervention.kind, workflowId, "--reason", "planned", "--by", NAME];
    const result = await this.#environment.starter.runUntilReached(args, signal);
    if (result === undefined) return;
    // It had ended before: nothing was done, unless by an attempt whose answer was lost.
    if (result.code === 2) {
      if (intervention.kind !== "terminate" || !(await this.#isTerminated(workflowId, signal)))
        return;
    } else this.#expect(result, 0, args);
    this.ended.set(workflowId, Date.now());
    if (intervention.kind === "cancel") this.counts.cancelled += 1;
    else this.counts.terminated += 1;
  }

  /** Whether a run was terminated: nobody but the operator does so. */
  async #isTerminated(workflowId: string, signal: AbortSignal): Promise<boolean> {
    const description = await callUntilAnswered(this.#environment, signal, ({ workflow }) =>
      workflow.getHandle(workflowId).describe(),
    );
    return description?.status.name === "TERMINATED";
  }

  /** Pause sends for a while, fund the empty balance, and retry what has failed so far. */
  async intervene(workDone: () => number, signal: AbortSignal): Promise<void> {
    await this.#until(() => workDone() >= PAUSE_AT, signal);
    await this.#pauseForAWhile(signal);
    await this.#until(() => workDone() >= RETRY_AT, signal);
    await this.fund(signal);
    await this.retryFailed(signal);
  }

  /** Retry what is planned, one by one, then all that failed. */
  async retryRemaining(signal: AbortSignal): Promise<void> {
    for (const run of this.#runs) {
      if (signal.aborted) return;
      await this.#retryAsPlanned(run, signal);
    }
    await this.retryFailed(signal);
  }

  /** Run `starter runs retry --failed`: all that failed, and nothing that a person has ended. */
  async retryFailed(signal: AbortSignal): Promise<void> {
    const args = ["runs", "retry", "--failed", "--yes", "--reason", "outage", "--rate", "20"];
    const result = await this.#environment.starter.runUntilReached([...args, "--by", NAME], signal);
    // 1: some cannot be retried, as they were undone, for example.
    if (result === undefined) return;
    if (result.code !== 1) this.#expect(result, 0, args);
    this.counts.retriedTogether += Number(result.json["retried"] ?? 0);
  }

  async #retryAsPlanned(
    { intervention, workflowId }: PlannedRun,
    signal: AbortSignal,
  ): Promise<void> {
    if (intervention === undefined || ("thenRetry" in intervention && !intervention.thenRetry))
      return;
    if (intervention.kind === "cancel" || intervention.kind === "terminate") {
      if (!this.ended.has(workflowId)) return;
    }
    const args = ["runs", "retry", workflowId, "--reason", "planned", "--by", NAME];
    if (intervention.kind === "retry" && intervention.amend !== undefined) {
      const folder = await mkdtemp(join(this.#environment.folder, "amend-"));
      const patch = join(folder, "patch.json");
      await writeFile(patch, JSON.stringify(intervention.amend));
      args.push("--amend", patch);
    }
    const result = await this.#environment.starter.runUntilReached(args, signal);
    if (result === undefined) return;
    if (intervention.kind === "abandon") {
      if (result.code === 2) this.counts.refusedRetries += 1;
      return;
    }
    // 2: it completed, is open already, or was undone.
    if (result.code === 2) return;
    this.#expect(result, 0, args);
    this.ended.delete(workflowId);
    this.counts.retried += 1;
  }

  /** Run `starter resume`. */
  async resumeSends(signal: AbortSignal): Promise<void> {
    const args = ["resume", "--by", NAME];
    const resumed = await this.#environment.starter.runUntilReached(args, signal);
    if (resumed !== undefined) this.#expect(resumed, 0, args);
  }

  /** Run `starter pause`; false where the signal was aborted before. */
  async pauseSends(signal: AbortSignal): Promise<boolean> {
    const args = ["pause", "the bank reports duplicates", "--by", NAME];
    const paused = await this.#environment.starter.runUntilReached(args, signal);
    // 1: just after its own restart the server has seen no worker poll yet. They are paused all the same.
    if (paused !== undefined && paused.code !== 1) this.#expect(paused, 0, args);
    return paused !== undefined;
  }

  /**
   * Run `starter recover`, which pauses sends.
   *
   * @returns the ids of the runs that Temporal has lost.
   */
  async recover(since: Date, signal: AbortSignal): Promise<readonly string[]> {
    const args = ["recover", "--since", since.toISOString(), "--by", NAME];
    const result = await this.#environment.starter.runUntilReached(args, signal);
    if (result === undefined) return [];
    // 1: sends stay paused until a person has decided what is not clear.
    this.#expect(result, 1, args);
    const { lost } = result.json;
    return workflowIdsIn(lost);
  }

  async #pauseForAWhile(signal: AbortSignal): Promise<void> {
    this.#coordination.isPausing = true;
    try {
      await this.#until(() => this.#coordination.frozen === 0, signal);
      if (!(await this.pauseSends(signal))) return;
      const from = Date.now() + PAUSE_TAKES_HOLD_MS;
      await delay(PAUSE_TAKES_HOLD_MS + PAUSED_MS + this.#random.int(0, 2_000), signal);
      const to = Date.now();
      this.#pauses.push({ from, to });
      this.counts.pauses += 1;
    } finally {
      // Also when the signal is aborted: what is paused would never end.
      await this.resumeSends(AbortSignal.timeout(60_000));
      this.#coordination.isPausing = false;
    }
  }

  /** Pay into the balance that was empty. */
  async fund(signal: AbortSignal): Promise<void> {
    while (!this.isFunded && !signal.aborted) {
      try {
        // A payment whose answer was lost is not made again.
        const { balances } = await this.#environment.control.ledger();
        const held = balances.find(({ currency }) => currency === LATE_FUNDS.currency);
        if (held === undefined || isZero(parseAmount(held.available_balance))) {
          await this.#environment.control.fund(LATE_FUNDS.currency, LATE_FUNDS.amount);
        }
        this.isFunded = true;
      } catch (error) {
        if (!(error instanceof SimulatorUnavailable)) throw error;
        await delay(300, signal);
      }
    }
  }

  async #until(isTime: () => boolean, signal: AbortSignal): Promise<void> {
    while (!isTime() && !signal.aborted) await delay(200, signal);
  }

  #expect({ code, output }: CommandResult, expected: number, args: readonly string[]): void {
    if (code === expected) return;
    this.#unexpectedExits.push(`starter ${args.join(" ")} ended with exit code ${code}: ${output}`);
  }
}
