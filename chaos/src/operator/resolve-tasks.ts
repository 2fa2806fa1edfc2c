import {
  type Decision,
  type HumanTask,
  NEEDS_ATTENTION,
  PAYMENT_STAGE,
  queryText,
  resolveUpdate,
  STEP,
} from "@durable-payments/protocol";
import { WorkflowUpdateFailedError } from "@temporalio/client";
import { delay } from "../delay.ts";
import type { Environment } from "../environment/environment.ts";
import { callTemporal, isTransient } from "../environment/temporal-calls.ts";
import type { ChaosOptions } from "../options.ts";
import type { PlannedRun } from "../plan/planned-run.ts";
import { Random } from "../plan/random.ts";
import { type OpenTask, readTask } from "./open-task.ts";
import { type Reconciliation, SendReconciler } from "./reconcile-send.ts";
import { Unreadable } from "./service-reader.ts";

/** A task about a send of unknown outcome, and how it was reconciled at last. */
export interface ReconciledTask extends Pick<HumanTask, "step" | "reason"> {
  readonly workflowId: string;
  readonly reconciliation: Reconciliation["_tag"];
}

/** What the decisions depend on beside the task. */
export interface Conditions {
  /** Whether the balance that was empty has been funded. */
  readonly isFunded: () => boolean;
  /** Whether runs may be abandoned by now. */
  readonly mayAbandon: () => boolean;
}

/** The name in the audit trails. */
const NAME = "chaos";

const POLL_EVERY_MS = 1_000;

/**
 * How long lists may take to catch up before absence is believed, and how long a task waits that no
 * evidence decides: hours, for a person; seconds here, where lists lag by less than three.
 */
const BELIEVES_AFTER_MS = 6_000;
const ABANDONS_AFTER_MS = 12_000;

/** What is changed of a refused request, by step: no field that identifies it in a list. */
const AMENDMENTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  [STEP.createBeneficiary]: { beneficiary: { city: "Shelbyville" } },
  [STEP.createCardholder]: { cardholder: { phone_number: "+4930654321" } },
  [STEP.createPayout]: { payout: { city: "Springfield" } },
  [STEP.issueCard]: { card: { product_code: "prepaid-usd-2" } },
};

/** The service's words where the balance does not hold enough. */
const UNFUNDED = /insufficient/i;

/** Resolves the tasks of runs by what a person sees: the task, and the service's own lists. */
export class TaskResolver {
  readonly #environment: Environment;
  readonly #runs: ReadonlyMap<string, PlannedRun>;
  readonly #seed: number;
  readonly #reconciler: SendReconciler;
  readonly #conditions: Conditions;
  readonly #resolutions = { found: 0, resend: 0, amend: 0, abandon: 0 };
  readonly #rejections: string[] = [];
  /** Tasks, by run and question, for which a resolution was sent, and whose resolution was accepted. */
  readonly #counted = new Set<string>();
  readonly #resolved = new Set<string>();
  /** The tasks about sends of unknown outcome, as they were reconciled at last. */
  readonly #reconciled = new Map<string, ReconciledTask>();
  /** When runs were abandoned, by workflow id, in milliseconds since 1970. */
  readonly abandoned = new Map<string, number>();

  constructor(
    environment: Environment,
    runs: readonly PlannedRun[],
    { seed }: ChaosOptions,
    conditions: Conditions,
  ) {
    this.#environment = environment;
    this.#runs = new Map(runs.map((run) => [run.workflowId, run]));
    this.#seed = seed;
    this.#reconciler = new SendReconciler(environment);
    this.#conditions = conditions;
  }

  /** How many tasks were resolved, by decision. */
  get resolutions(): Readonly<Record<"found" | "resend" | "amend" | "abandon", number>> {
    return this.#resolutions;
  }

  /** How many tasks about sends of unknown outcome there were, by their last reconciliation. */
  get reconciliations(): Readonly<Record<Reconciliation["_tag"], number>> {
    const counts = { sameKey: 0, unique: 0, absent: 0, unclear: 0, unlisted: 0 };
    for (const { reconciliation } of this.#reconciled.values()) counts[reconciliation] += 1;
    return counts;
  }

  /** The tasks that the list itself decided: no person was needed. */
  get avoidable(): readonly ReconciledTask[] {
    return [...this.#reconciled.values()].filter(
      ({ reconciliation }) => reconciliation === "sameKey" || reconciliation === "unique",
    );
  }

  /** Resolutions that a run rejected: there should be none. */
  get rejections(): readonly string[] {
    return this.#rejections;
  }

  /** Resolve tasks until the signal is aborted. */
  async resolveUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#resolveAll();
      } catch (error) {
        if (!isTransient(error) && !(error instanceof Unreadable)) throw error;
      }
      await delay(POLL_EVERY_MS, signal);
    }
  }

  /** After the database was put back runs wait again for what was resolved since: resolve it again. */
  forgetResolved(): void {
    this.#resolved.clear();
  }

  async #resolveAll(): Promise<void> {
    const tasks: OpenTask[] = [];
    for (const workflowId of await this.#waitingRuns()) {
      const task = await callTemporal(this.#environment, (client) => readTask(client, workflowId));
      if (task !== undefined) tasks.push(task);
    }
    this.#reconciler.clearCache();
    for (const task of tasks) {
      const id = `${task.workflowId}/${task.question}`;
      if (this.#resolved.has(id)) continue;
      try {
        const decision = await this.#decide(task, tasks, id);
        if (decision !== undefined) await this.#resolve(task, id, decision);
      } catch (error) {
        // The lists that decide the others may be readable.
        if (!(error instanceof Unreadable)) throw error;
      }
    }
  }

  async #waitingRuns(): Promise<readonly string[]> {
    return await callTemporal(this.#environment, async (client) => {
      const waiting: string[] = [];
      const stage = `${PAYMENT_STAGE.name} = ${queryText(NEEDS_ATTENTION)}`;
      const query = `${stage} AND ExecutionStatus = "Running"`;
      for await (const { workflowId } of client.workflow.list({ query })) waiting.push(workflowId);
      return waiting;
    });
  }

  async #resolve(
    { question, workflowId }: OpenTask,
    id: string,
    decision: Decision,
  ): Promise<void> {
    // Before the update, whose answer may be lost: a run that waits does nothing meanwhile.
    this.#count(workflowId, id, decision);
    try {
      await callTemporal(this.#environment, (client) =>
        client.workflow.getHandle(workflowId).executeUpdate(resolveUpdate, {
          args: [{ by: NAME, question, ...decision }],
          // An update whose answer is lost is sent again, and applied once.
          updateId: id,
        }),
      );
    } catch (error) {
      if (!(error instanceof WorkflowUpdateFailedError)) throw error;
      const now = await callTemporal(this.#environment, (client) => readTask(client, workflowId));
      // A run that was put back meanwhile has another task, which is read first.
      if (now === undefined || now.question === question) {
        this.#rejections.push(`${id}: ${error.cause?.message ?? error.message}`);
      }
    }
    this.#resolved.add(id);
  }

  #count(workflowId: string, id: string, decision: Decision): void {
    if ("abandon" in decision) this.abandoned.set(workflowId, Date.now());
    if (this.#counted.has(id)) return;
    this.#counted.add(id);
    for (const kind of ["found", "resend", "amend", "abandon"] as const) {
      if (kind in decision) this.#resolutions[kind] += 1;
    }
  }

  /** Decide what to do; undefined where that cannot be decided yet. */
  async #decide(
    task: OpenTask,
    all: readonly OpenTask[],
    id: string,
  ): Promise<Decision | undefined> {
    const { actions, idsWanted, reason, since, step, workflowId } = task;
    const intervention = this.#runs.get(workflowId)?.intervention;
    if (intervention?.kind === "abandon") return this.#abandon("fraud suspected, do not pay");
    if (UNFUNDED.test(reason) && !this.#conditions.isFunded()) return undefined;
    if (!actions.includes("found")) {
      // Refused: it was not carried out, and is sent again, changed or as it was.
      const amend = actions.includes("amend") ? AMENDMENTS[step] : undefined;
      const isAmended = new Random(this.#seed, `${workflowId}/${step}`).chance(0.5);
      return amend !== undefined && isAmended ? { amend } : { resend: true };
    }
    const age = Date.now() - Date.parse(since);
    const reconciliation = await this.#reconciler.reconcile(task, all);
    this.#reconciled.set(id, { workflowId, step, reason, reconciliation: reconciliation._tag });
    switch (reconciliation._tag) {
      case "sameKey":
        return found(idsWanted, reconciliation.id);
      case "unique":
        return age < BELIEVES_AFTER_MS ? undefined : found(idsWanted, reconciliation.id);
      case "absent":
        return age < BELIEVES_AFTER_MS ? undefined : this.#resend(actions);
      case "unlisted":
        // No list shows it, and a second one moves no money.
        return this.#resend(actions);
      case "unclear":
        return age < ABANDONS_AFTER_MS
          ? undefined
          : this.#abandon("nobody can say whether it was paid");
    }
  }

  #resend(actions: HumanTask["actions"]): Decision | undefined {
    if (actions.includes("resend")) return { resend: true };
    return this.#abandon("it cannot be sent again");
  }

  #abandon(why: string): Decision | undefined {
    return this.#conditions.mayAbandon() ? { abandon: why } : undefined;
  }
}

const found = (idsWanted: readonly string[], id: string): Decision => ({
  found: Object.fromEntries(idsWanted.map((name) => [name, id])),
});
