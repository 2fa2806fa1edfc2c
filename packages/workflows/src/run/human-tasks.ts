import { isRecord } from "@durable-payments/api-core/values";
import {
  amendmentFaults,
  type HumanTask,
  type HumanTaskAction,
  nameProblem,
  namesSomebody,
  questionOf,
  type Resolution,
} from "@durable-payments/protocol";
import { condition, patched, workflowInfo } from "@temporalio/workflow";
import { rootCause, runFailure } from "./failures.ts";

/** An id that the service made shows something, and breaks no line. */
const isId = (value: unknown): boolean => namesSomebody(value) && !/\p{Cc}/u.test(value);

/** Before, an amendment was checked after it was taken. */
const CHECKED_AMENDMENTS = "amendments are checked before they are taken";

const ACTIONS: ReadonlyArray<HumanTaskAction> = ["found", "resend", "amend", "abandon"];

/** Why a resolution cannot be taken, or undefined when it can. An update can carry anything. */
const whyInvalid = (task: HumanTask | undefined, resolution: unknown): string | undefined => {
  if (task === undefined) return "This run does not wait for a person.";
  if (!isRecord(resolution) || !namesSomebody(resolution["by"])) {
    return "Give the name of who decides (by).";
  }
  const problem = nameProblem(resolution["by"]);
  if (problem !== undefined) return `The name of who decides (by) ${problem}.`;
  const { abandon, amend, found, question, resend } = resolution;
  if (!namesSomebody(question)) {
    return `Say which human task it resolves (question): read the one that is open now (${task.question}).`;
  }
  if (question !== task.question) {
    return `This resolves an earlier human task (${question}): read the one that is open now (${task.question}).`;
  }
  const [action, ...more] = ACTIONS.filter((name) => name in resolution);
  if (action === undefined || more.length > 0 || !task.actions.includes(action)) {
    return `Give exactly one of ${task.actions.join(", ")}.`;
  }
  if (action === "abandon" && !namesSomebody(abandon)) return "abandon must say why.";
  if (action === "resend" && resend !== true) return "resend must be true.";
  if (action === "amend") {
    const faults = amendmentFaults(task.operation, amend);
    if (faults.length > 0) {
      return `The amendment is wrong: ${faults.map(({ field, problem }) => `${field} ${problem}`).join("; ")}.`;
    }
  }
  if (action === "found") {
    const ids = isRecord(found) ? found : {};
    const missing = task.idsWanted.filter((id) => !isId(ids[id]));
    if (missing.length > 0) return `found must give ${missing.join(", ")}.`;
  }
  return undefined;
};

/** A human task, and its resolution once a person has given it. */
interface PendingTask {
  readonly task: HumanTask;
  readonly check: AmendmentCheck;
  resolution: Resolution | undefined;
  /** Who has given an amendment that is being checked. */
  checking: string | undefined;
}

/** Checks what a request would be, amended: it rejects with what is wrong with it. */
export type AmendmentCheck = (amendment: Readonly<Record<string, unknown>>) => Promise<void>;

/**
 * The human tasks of a run. Steps that go on side by side may ask at once: one task is shown at a time,
 * and a resolution is taken for the task that it names.
 */
export class HumanTasks {
  /** Those that wait, in the order in which they were asked. */
  readonly #waiting: Array<PendingTask> = [];
  #count = 0;

  /** What is asked now. */
  get asked(): HumanTask | undefined {
    return this.#waiting[0]?.task;
  }

  /** Why a decision cannot be taken now, or undefined when it can. */
  whyNot(resolution: unknown): string | undefined {
    const [first] = this.#waiting;
    if (first?.checking !== undefined) {
      return `An amendment of ${first.checking} is being checked: see what comes of it.`;
    }
    // A decision that is not taken up yet is not overwritten by a second one.
    return first?.resolution === undefined
      ? whyInvalid(first?.task, resolution)
      : "This human task has been resolved.";
  }

  #taskOf({ question }: Resolution): PendingTask | undefined {
    // Resolutions in histories of before tasks had ids name none: they were for the one shown.
    return this.#waiting.find(({ task }) => task.question === question) ?? this.#waiting[0];
  }

  /**
   * Takes the decision of a person; the update's validator has checked what it can without the contract.
   *
   * @throws InvalidResolution where the contract refuses what an amendment makes of the request.
   */
  resolve(resolution: Resolution): void | Promise<void> {
    const asked = this.#taskOf(resolution);
    if (asked === undefined) return undefined;
    if ("amend" in resolution && patched(CHECKED_AMENDMENTS)) {
      return this.#takeChecked(asked, resolution);
    }
    asked.resolution = resolution;
    return undefined;
  }

  /**
   * Takes an amendment, once it is known that what it makes of the request may be sent: no other decision is
   * taken meanwhile, and the task stays open where it may not.
   */
  async #takeChecked(
    asked: PendingTask,
    resolution: Resolution & { readonly amend: Readonly<Record<string, unknown>> },
  ): Promise<void> {
    asked.checking = resolution.by;
    try {
      await asked.check(resolution.amend);
      asked.resolution = resolution;
    } catch (error) {
      throw runFailure("InvalidResolution", rootCause(error).message);
    } finally {
      asked.checking = undefined;
    }
  }

  /**
   * Asks; what is returned waits, however long it takes, until a person has decided.
   *
   * @param check checks an amendment before it is taken.
   */
  ask(
    asked: Omit<HumanTask, "question" | "since">,
    check: AmendmentCheck,
  ): () => Promise<Resolution> {
    this.#count += 1;
    const described = { ...asked, since: new Date().toISOString() };
    const question = questionOf(workflowInfo().workflowId, this.#count, described);
    const task: HumanTask = { question, ...described };
    const waiting: PendingTask = { task, check, resolution: undefined, checking: undefined };
    this.#waiting.push(waiting);
    return async () => {
      try {
        await condition(() => waiting.resolution !== undefined);
      } finally {
        // A run that is cancelled asks no more.
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      }
      // The condition holds: `answer` has set it.
      return waiting.resolution as unknown as Resolution;
    };
  }
}
