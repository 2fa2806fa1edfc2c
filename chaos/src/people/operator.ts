import type { Connected } from "@durable-payments/control/connection";
import { answer } from "@durable-payments/control/decide";
import { planRepair, retryPayment, startRepair } from "@durable-payments/control/retry";
import { cancel, cancelBatch, pause, resume } from "@durable-payments/control/stopping";
import { WorkflowNotFoundError } from "@temporalio/client";
import type { Campaign } from "../campaign.ts";
import { delay, until } from "../delay.ts";
import { TASK_QUEUE } from "../environment/environment.ts";
import { LATE_FUNDS, type PlannedRun, POLICY, STRICT } from "../plan/planned-run.ts";
import { Random } from "../plan/random.ts";
import { ignoreUnavailable, ON_ITS_WAY_MS, type SimulatorControl } from "../service/service.ts";
import { attempt } from "./attempt.ts";
import { setLimits } from "./limits.ts";
import { randomUUID } from "node:crypto";

const ACTING = { by: "grace", how: "--by", reason: "planned" } as const;

const PAUSED_MS = 4_000;

/** The share of the work after which sends are paused, and failed runs retried for the first time. */
const PAUSE_AT = 0.35;
const RETRY_AT = 0.55;

/** Resets the latest run of an id to its first workflow task, as Temporal's own tool does; nothing if it has none. */
const resetNatively = async (
  { client, namespace }: Connected,
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
export const makeOperator = (campaign: Campaign) => {
  const { ended, environment, freezing, interrupted, operate, quiet, runs, signal, tally } =
    campaign;
  const random = new Random(campaign.seed, "operator");
  /** Questions for which an ended run was retried. */
  const retriedFor = new Set<string>();

  /** Does something by Temporal's own tools. */
  const natively = async (kind: "cancel" | "terminate" | "reset", workflowId: string) => {
    await operate(async (operations) => {
      const handle = operations.client.workflow.getHandle(workflowId);
      try {
        if (kind === "cancel") await handle.cancel();
        else if (kind === "terminate") await handle.terminate("chaos");
        else await resetNatively(operations, workflowId);
      } catch (error) {
        // It has ended before, or Temporal's restore has made it forgotten.
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    });
    tally.add(`${kind} by Temporal's tools`);
  };

  /** Starts an id once more with the same input by a client without any plugin: nobody vouches. */
  const startBare = async ({ input, kind, workflowId }: PlannedRun): Promise<void> => {
    const options = {
      workflowId,
      taskQueue: TASK_QUEUE,
      args: [input],
      workflowIdReusePolicy: "ALLOW_DUPLICATE",
      workflowIdConflictPolicy: "USE_EXISTING",
    } as const;
    await operate(({ client }) =>
      client.workflow.start<(given: typeof input) => Promise<unknown>>(kind, options),
    );
    tally.add("started again");
  };

  /** Retries one run; false if that was refused. */
  const retry = async (
    workflowId: string,
    how: { readonly amend?: object | undefined; readonly isOverruling?: boolean } = {},
  ): Promise<boolean> => {
    const { amend: patch, isOverruling = false } = how;
    const amend = patch && { amend: patch };
    const done = await attempt(campaign, (operations) =>
      retryPayment(operations, workflowId, { ...ACTING, isOverruling, ...amend }),
    );
    if (done === undefined || done.plan.way === "look") return false;
    tally.add(isOverruling ? "overruled" : "retried");
    return true;
  };

  /** Retries all that failed, and nothing that a person has ended. Returns the repair. */
  const retryFailed = async (): Promise<string | undefined> => {
    const done = await operate(async (operations) => {
      const planned = await planRepair(operations, {}, ACTING);
      if (planned.rows.length === 0) return undefined;
      const how = { ...ACTING, rate: 50 };
      const { id } = await startRepair(operations, planned, how, "failed runs");
      return { id, retries: planned.retries };
    });
    for (const { workflowId } of done?.retries ?? []) {
      tally.add("retried in bulk");
      if (!ended.has(workflowId)) continue;
      campaign.unexpected.push(`${workflowId} was retried in bulk although a person had ended it`);
    }
    return done?.id;
  };

  /** Waits until a repair has begun all its retries: a run that it begins later would be compared while it is open. */
  const awaitBegun = (repair: string): Promise<void> => {
    const isBegun = async () =>
      (await operate(async ({ ledger }) => {
        const rows = await ledger.batchRows(repair);
        const taken = rows.filter(({ state }) => state === "started");
        const workflowIds = taken.map(({ workflowId }) => workflowId);
        const runs = workflowIds.length === 0 ? [] : await ledger.runs({ workflowIds });
        const failed = new Set(taken.map(({ run }) => run));
        const isWaiting = rows.some(({ state }) => state === "waiting");
        return !isWaiting && !runs.some(({ runId }) => failed.has(runId));
      })) === true;
    return until(isBegun, signal, 1_000);
  };

  /** Whatever is tried with an id that a person has ended, nothing may be paid. */
  const tryToPay = async (run: PlannedRun): Promise<void> => {
    const { workflowId } = run;
    const way = random.pick(["retry", "reset", "start", "all"]);
    if (way === "retry" || way === "all") {
      const problem = `${workflowId} was retried although a person had ended it`;
      if (await retry(workflowId)) campaign.unexpected.push(problem);
      else tally.add("retry refused");
    }
    if (way === "reset" || way === "all") {
      await natively("reset", workflowId);
      await delay(1_000, signal);
    }
    if (way === "start" || way === "all") await startBare(run);
  };

  /** Pays into the balance of an account that was empty. */
  const fund = async (control: SimulatorControl): Promise<void> => {
    const isFunded = async (): Promise<boolean> => {
      // A payment whose answer was lost is not made again.
      const { balances } = await control.ledger();
      const held = balances.find(({ currency }) => currency === LATE_FUNDS.currency);
      if (Number(held?.available_balance ?? "0") === 0) {
        await control.fund(LATE_FUNDS.currency, LATE_FUNDS.amount);
      }
      tally.add("funded");
      return true;
    };
    await until(() => isFunded().catch(ignoreUnavailable).then(Boolean), signal);
  };

  const pauseForAWhile = async (): Promise<void> => {
    freezing.isPausing = true;
    try {
      await until(() => freezing.count === 0, signal);
      await operate((operations) => pause(operations, undefined, ACTING));
      if (signal.aborted) return;
      const from = Date.now() + ON_ITS_WAY_MS;
      await delay(ON_ITS_WAY_MS + PAUSED_MS + random.int(0, 2_000), signal);
      quiet.push({ why: "the pause", from, to: Date.now() });
      tally.add("pause");
    } finally {
      // Also when the signal is aborted: what is paused would never end.
      const within = AbortSignal.timeout(60_000);
      await attempt(campaign, (operations) => resume(operations, undefined, ACTING), within);
      freezing.isPausing = false;
    }
  };

  /** Cancels the file of a run with the rows that have started; the others may stay unknown to Temporal. */
  const cancelFile = async (file: string | undefined): Promise<void> => {
    const stopped = await attempt(campaign, async (operations) => {
      const batches = await operations.ledger.batches();
      const found = batches.find((one) => one.file === `${file}.jsonl`);
      if (found === undefined) return [];
      await cancelBatch(operations, found.id, { ...ACTING, isStarted: true });
      const rows = runs.filter((run) => run.file === file);
      return Promise.all(
        rows.map(async ({ workflowId }) => {
          const decisions = await operations.ledger.decisionsOf(workflowId);
          return [workflowId, decisions.some(({ kind }) => kind === "end")] as const;
        }),
      );
    });
    for (const [workflowId, isEnded] of stopped ?? []) {
      if (isEnded) ended.set(workflowId, Date.now());
      else interrupted.add(workflowId);
    }
    tally.add("file cancelled");
  };

  return {
    /**
     * Retries ended runs for which a person has answered that they send again: only a retry does. A run that fails before
     * it asks for the answer is given up.
     */
    retryAnswered: async (): Promise<void> => {
      const asking = await operate(({ ledger }) =>
        ledger.rows({ states: ["asking"], isRunEnded: true }),
      );
      for (const { ownerId, question, workflowId } of asking ?? []) {
        const of = { ...ACTING, question: question?.id ?? "", choose: "end" } as const;
        const decisions = await operate(({ ledger }) => ledger.decisionsOf(workflowId));
        if (!decisions?.some((one) => one.kind === "resend" && one.question === of.question))
          continue;
        const key = `${workflowId} ${of.question}`;
        const isRetried = retriedFor.has(key);
        retriedFor.add(key);
        if (!isRetried && (await retry(ownerId))) continue;
        await attempt(campaign, (operations) => answer(operations, workflowId, of));
        ended.set(workflowId, Date.now());
      }
    },

    /** Does with a run that has been started what is planned for while it is open. */
    interveneIn: async ({ file, intervention, workflowId }: PlannedRun): Promise<void> => {
      if (intervention === undefined || !("afterMs" in intervention)) return;
      await delay(intervention.afterMs, signal);
      const { kind } = intervention;
      if (kind === "cancel file") return cancelFile(file);
      if (kind !== "end" && kind !== "overruled") {
        await natively(kind, workflowId);
        if (kind !== "reset") interrupted.add(workflowId);
        return;
      }
      const isForced = kind === "end" && intervention.isForced;
      // Until it is recorded, another attempt of this call may do it again.
      const done = await attempt(campaign, (operations) =>
        cancel(operations, workflowId, { ...ACTING, isForced }),
      );
      if (done === undefined) return;
      if (kind === "end") ended.set(workflowId, Date.now());
      else interrupted.add(workflowId);
      tally.add("ended by a person");
    },

    /** Pauses sends for a while, funds the empty balance, and retries what has failed so far. */
    intervene: async (mayPause: boolean): Promise<void> => {
      if (mayPause) {
        await until(() => campaign.workDone >= PAUSE_AT, signal);
        // A payment that was approved before, and is not sent yet, asks again.
        await setLimits(campaign, STRICT);
        await pauseForAWhile();
      }
      await until(() => campaign.workDone >= RETRY_AT, signal);
      for (const { control } of environment.simulators) await fund(control);
      await retryFailed();
      await setLimits(campaign, POLICY);
    },

    /** Does what is planned for runs that have ended, then retries all that failed. */
    afterwards: async (): Promise<void> => {
      for (const run of runs) {
        const { intervention: planned, workflowId } = run;
        if (signal.aborted) return;
        if (ended.has(workflowId)) await tryToPay(run);
        else if (planned?.kind === "start again") await startBare(run);
        else if (planned?.kind === "retry") await retry(workflowId, { amend: planned.amend });
        else if (planned?.kind === "terminate") await retry(workflowId, { amend: planned.amend });
        else if (planned?.kind === "cancel") await retry(workflowId);
        else if (planned?.kind === "overruled" && interrupted.has(workflowId)) {
          await retry(workflowId, { isOverruling: true });
        }
      }
      const repair = await retryFailed();
      if (repair !== undefined) await awaitBegun(repair);
    },
  };
};
