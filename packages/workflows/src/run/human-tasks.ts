import { isRecord } from "@durable-payments/api-core/values";
import type { HumanTask, HumanTaskAction, Resolution } from "@durable-payments/protocol";
import { condition, workflowInfo } from "@temporalio/workflow";
import { v5 } from "uuid";

const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";

const ACTIONS: ReadonlyArray<HumanTaskAction> = ["found", "resend", "amend", "abandon"];

/** Why a resolution cannot be taken, or undefined when it can. An update can carry anything. */
const whyInvalid = (attention: HumanTask | undefined, resolution: unknown): string | undefined => {
  if (attention === undefined) return "This run does not wait for a person.";
  if (!isRecord(resolution) || !isText(resolution["by"])) {
    return "Give the name of who decides (by).";
  }
  const { abandon, amend, found, question, resend } = resolution;
  if (!isText(question)) {
    return `Say which question it answers (question): read what is asked now (${attention.question}).`;
  }
  if (question !== attention.question) {
    return `This answer is to an earlier question (${String(question)}): read what is asked now (${attention.question}).`;
  }
  const [action, ...more] = ACTIONS.filter((name) => name in resolution);
  if (action === undefined || more.length > 0 || !attention.actions.includes(action)) {
    return `Give exactly one of ${attention.actions.join(", ")}.`;
  }
  if (action === "abandon" && !isText(abandon)) return "abandon must say why.";
  if (action === "resend" && resend !== true) return "resend must be true.";
  if (action === "amend" && (!isRecord(amend) || Object.keys(amend).length === 0)) {
    return "amend must be an object of the fields to change.";
  }
  if (action === "found") {
    const ids = isRecord(found) ? found : {};
    const missing = attention.idsWanted.filter((id) => !isText(ids[id]));
    if (missing.length > 0) return `found must give ${missing.join(", ")}.`;
  }
  return undefined;
};

/** Namespace of the names of questions. */
const QUESTIONS = "0a6c1b1e-9f6e-5b8e-8f0a-3d1d2c7b9e54";

/** A question that was asked, and its answer once a person has given it. */
interface Asked {
  readonly attention: HumanTask;
  answer: Resolution | undefined;
}

/**
 * The questions that a run asks people. Steps that go on side by side may ask at once: one question is
 * shown at a time, and an answer is taken for the question that it names.
 */
export class HumanTasks {
  /** Those that wait, in the order in which they were asked. */
  readonly #waiting: Array<Asked> = [];
  #count = 0;

  /** What is asked now. */
  get asked(): HumanTask | undefined {
    return this.#waiting[0]?.attention;
  }

  /** Why a decision cannot be taken now, or undefined when it can. */
  whyNot(resolution: unknown): string | undefined {
    const [first] = this.#waiting;
    // A decision that is not taken up yet is not overwritten by a second one.
    return first?.answer === undefined
      ? whyInvalid(first?.attention, resolution)
      : "This question has been answered.";
  }

  /** Takes the decision of a person; the update's validator has checked it. */
  answer(resolution: Resolution): void {
    // Decisions in histories of before questions had names give none: they were for the one shown.
    const answered =
      this.#waiting.find(({ attention }) => attention.question === resolution.question) ??
      this.#waiting[0];
    if (answered !== undefined) answered.answer = resolution;
  }

  /** Asks; what is returned waits, however long it takes, until a person has decided. */
  ask(asked: Omit<HumanTask, "question" | "since">): () => Promise<Resolution> {
    this.#count += 1;
    const attention = named({ ...asked, since: new Date().toISOString() }, this.#count);
    const waiting: Asked = { attention, answer: undefined };
    this.#waiting.push(waiting);
    return async () => {
      try {
        await condition(() => waiting.answer !== undefined);
      } finally {
        // A run that is cancelled asks no more.
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      }
      // The condition holds: `answer` has set it.
      return waiting.answer as unknown as Resolution;
    };
  }
}

/**
 * Names a question by its number in the run and by all that it says, when it was asked among it: a run
 * that was reset asks anew, under another name, unless it is the question in its history.
 */
const named = (asked: Omit<HumanTask, "question">, number: number): HumanTask => {
  const text = JSON.stringify([workflowInfo().workflowId, number, asked]);
  return { question: `${number}-${v5(text, QUESTIONS).slice(0, 8)}`, ...asked };
};
