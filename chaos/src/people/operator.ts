import type { Operations } from "@durable-payments/operations/connection";
import { isOperationError } from "@durable-payments/operations/errors";
import { planMany, retryMany, retryPayment } from "@durable-payments/operations/retry";
import { cancel, pause, resume } from "@durable-payments/operations/stopping";
import { defaultAssumptions } from "@durable-payments/api-core";
import { WorkflowNotFoundError } from "@temporalio/client";
import { delay, until } from "../delay.ts";
import type { Evidence } from "../evidence/evidence.ts";
import { type Environment, TASK_QUEUE } from "../environment/environment.ts";
import type { FreezeCoordination } from "../faults/process-faults.ts";
import { LATE_FUNDS, type PlannedRun } from "../plan/planned-run.ts";
import { Random } from "../plan/random.ts";
import { ignoreUnavailable } from "../service/service.ts";
import { WORKFLOW_TYPES } from "../start-runs.ts";
import type { Tally } from "../tally.ts";
import { randomUUID } from "node:crypto";

const ACTING = { by: "grace", how: "--by", reason: "planned" } as const;

const PAUSED_MS = 4_000;

/** Requests sent before the pause may arrive as late as a slow answer takes. */
const ON_ITS_WAY_MS = 3_500;

/** The share of the work after which sends are paused, and failed runs retried for the first time. */
const PAUSE_AT = 0.35;
const RETRY_AT = 0.55;

/** Resets the latest run of an id to its first workflow task, as Temporal's own tool does; nothing if it has none. */
const resetNatively = async (
  { client, namespace }: Operations,
  workflowId: string,
): Promise<void> => {
  const { runId } = await client.workflow.getHandle(workflowId).describe();
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const first = events?.find(
    ({ workflowTaskCompletedEventAttributes: completed }) =>
      completed !== null && completed !== undefined,
  );
  if (first === undefined) return;
  await client.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId, runId },
    reason: "chaos",
    requestId: randomUUID(),
    workflowTaskFinishEventId: first.eventId ?? null,
  });
};

/** The people who end, overrule, retry and pause, and those who use Temporal's own tools. */
export class Operator {
  readonly #environment: Environment;
  readonly #runs: ReadonlyArray<PlannedRun>;
  readonly #random: Random;
  readonly #coordination: FreezeCoordination;
  readonly #tally: Tally;
  readonly unexpected: Array<string> = [];
  readonly quiet: Array<Evidence["quiet"][number]> = [];
  /** When a person ended a workflow id for good, in milliseconds since 1970. */
  readonly ended = new Map<string, number>();
  /** Ids that Temporal's own tools have ended, or a person whom another one overruled. */
  readonly interrupted = new Set<string>();
  isFunded = false;

  constructor(
    environment: Environment,
    runs: ReadonlyArray<PlannedRun>,
    seed: number,
    coordination: FreezeCoordination,
    tally: Tally,
  ) {
    this.#environment = environment;
    this.#runs = runs;
    this.#coordination = coordination;
    this.#tally = tally;
    this.#random = new Random(seed, "operator");
  }

  /** Does with a run that has been started what is planned for while it is open. */
  async interveneIn(run: PlannedRun, signal: AbortSignal): Promise<void> {
    const { intervention, workflowId } = run;
    if (intervention === undefined || !("afterMs" in intervention)) return;
    await delay(intervention.afterMs, signal);
    const { kind } = intervention;
    if (kind === "end" || kind === "overruled") {
      const isForced = kind === "end" && intervention.isForced;
      // Until it is recorded, another attempt of this call may do it again.
      const done = await this.#try(signal, (operations) =>
        cancel(operations, workflowId, { ...ACTING, isForced }),
      );
      if (done === undefined) return;
      if (kind === "end") this.ended.set(workflowId, Date.now());
      else this.interrupted.add(workflowId);
      this.#tally.add("ended by a person");
      return;
    }
    await this.#natively(kind, workflowId, signal);
    if (kind !== "reset") this.interrupted.add(workflowId);
  }

  /** Does something by Temporal's own tools. */
  async #natively(
    kind: "cancel" | "terminate" | "reset",
    workflowId: string,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#environment.operate(async (operations) => {
      const handle = operations.client.workflow.getHandle(workflowId);
      try {
        if (kind === "cancel") await handle.cancel();
        else if (kind === "terminate") await handle.terminate("chaos");
        else await resetNatively(operations, workflowId);
      } catch (error) {
        // It has ended before, or Temporal's restore has made it forgotten.
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    }, signal);
    this.#tally.add(`${kind} by Temporal's tools`);
  }

  /** Pauses sends for a while, funds the empty balance, and retries what has failed so far. */
  async intervene(
    { mayPause, workDone }: { readonly mayPause: boolean; readonly workDone: () => number },
    signal: AbortSignal,
  ): Promise<void> {
    if (mayPause) {
      await until(() => workDone() >= PAUSE_AT, signal);
      await this.#pauseForAWhile(signal);
    }
    await until(() => workDone() >= RETRY_AT, signal);
    await this.fund(signal);
    await this.retryFailed(signal);
  }

  /** Does what is planned for runs that have ended, then retries all that failed. */
  async afterwards(signal: AbortSignal): Promise<void> {
    for (const run of this.#runs) {
      if (signal.aborted) return;
      await this.#afterwards(run, signal);
    }
    await this.retryFailed(signal);
  }

  async #afterwards(run: PlannedRun, signal: AbortSignal): Promise<void> {
    const { intervention, workflowId } = run;
    const isEnded = this.ended.has(workflowId);
    if (isEnded) return this.#tryToPay(run, signal);
    switch (intervention?.kind) {
      case undefined:
      case "end":
      case "end by answer":
      case "reset":
        return;
      case "start again":
        return this.#startBare(run, signal);
      case "retry":
        await this.#retry(workflowId, signal, { amend: intervention.amend });
        return;
      case "overruled":
        if (!this.interrupted.has(workflowId)) return;
        await this.#retry(workflowId, signal, { isOverruling: true });
        return;
      default:
        await this.#retry(workflowId, signal);
    }
  }

  /** Whatever is tried with an id that a person has ended, nothing may be paid. */
  async #tryToPay(run: PlannedRun, signal: AbortSignal): Promise<void> {
    const way = this.#random.pick(["retry", "reset", "start", "all"]);
    const { workflowId } = run;
    if (way === "retry" || way === "all") {
      const retried = await this.#retry(workflowId, signal);
      if (retried) this.unexpected.push(`${workflowId} was retried although a person had ended it`);
      else this.#tally.add("retry refused");
    }
    if (way === "reset" || way === "all") {
      await this.#natively("reset", workflowId, signal);
      await delay(1_000, signal);
    }
    if (way === "start" || way === "all") await this.#startBare(run, signal);
  }

  /** Starts an id once more with the same input by a client without any plugin: nobody vouches. */
  async #startBare({ input, kind, workflowId }: PlannedRun, signal: AbortSignal): Promise<void> {
    await this.#environment.operate(
      ({ client }) =>
        client.workflow.start(WORKFLOW_TYPES[kind], {
          workflowId,
          taskQueue: TASK_QUEUE,
          args: [input],
          workflowIdReusePolicy: "ALLOW_DUPLICATE",
          workflowIdConflictPolicy: "USE_EXISTING",
        }),
      signal,
    );
    this.#tally.add("started again");
  }

  /** Retries one run; false if that was refused. */
  async #retry(
    workflowId: string,
    signal: AbortSignal,
    {
      amend: patch,
      isOverruling = false,
    }: { readonly amend?: object | undefined; readonly isOverruling?: boolean } = {},
  ): Promise<boolean> {
    const done = await this.#try(signal, (operations) =>
      retryPayment(operations, workflowId, {
        ...ACTING,
        isOverruling,
        ...(patch && { amend: { patch, assumptions: defaultAssumptions } }),
      }),
    );
    if (done === undefined || done.plan.way === "look") return false;
    this.#tally.add(isOverruling ? "overruled" : "retried");
    return true;
  }

  /** Retries all that failed, and nothing that a person has ended. */
  async retryFailed(signal: AbortSignal): Promise<void> {
    const done = await this.#environment.operate(async (operations) => {
      const planned = await planMany(operations, {}, ACTING);
      return retryMany(operations, planned, ACTING, 50);
    }, signal);
    // A run that was only asked to look again sends nothing new.
    const retried = (done ?? []).filter(
      ({ way, whyNot }) => whyNot === undefined && way !== "look",
    );
    for (const { workflowId } of retried) {
      this.#tally.add("retried in bulk");
      if (!this.ended.has(workflowId)) continue;
      this.unexpected.push(`${workflowId} was retried in bulk although a person had ended it`);
    }
  }

  /** Pays into the balance that was empty. */
  async fund(signal: AbortSignal): Promise<void> {
    const control = this.#environment.service.simulator?.control;
    if (control === undefined) return;
    const isFunded = async (): Promise<boolean> => {
      // A payment whose answer was lost is not made again.
      const { balances } = await control.ledger();
      const held = balances.find(({ currency }) => currency === LATE_FUNDS.currency);
      if (Number(held?.available_balance ?? "0") === 0) {
        await control.fund(LATE_FUNDS.currency, LATE_FUNDS.amount);
      }
      return (this.isFunded = true);
    };
    await until(() => isFunded().catch(ignoreUnavailable).then(Boolean), signal);
  }

  async #pauseForAWhile(signal: AbortSignal): Promise<void> {
    this.#coordination.isPausing = true;
    try {
      await until(() => this.#coordination.frozen === 0, signal);
      const paused = await this.#environment.operate(
        (operations) => pause(operations, undefined, ACTING),
        signal,
      );
      if (paused === undefined) return;
      const from = Date.now() + ON_ITS_WAY_MS;
      await delay(ON_ITS_WAY_MS + PAUSED_MS + this.#random.int(0, 2_000), signal);
      this.quiet.push({ why: "the pause", from, to: Date.now() });
      this.#tally.add("pause");
    } finally {
      // Also when the signal is aborted: what is paused would never end.
      await this.#try(AbortSignal.timeout(60_000), (operations) =>
        resume(operations, undefined, ACTING),
      );
      this.#coordination.isPausing = false;
    }
  }

  /** Does something that the project may refuse; undefined if it did. */
  async #try<A>(
    signal: AbortSignal,
    act: (operations: Operations) => Promise<A>,
  ): Promise<A | undefined> {
    try {
      return await this.#environment.operate(act, signal);
    } catch (error) {
      if (isOperationError(error)) return undefined;
      throw error;
    }
  }
}
