import type { HumanTask, Resolution } from "@durable-payments/protocol";
import { condition, workflowInfo } from "@temporalio/workflow";
import { v5 } from "uuid";
import { whyNot } from "./attention.ts";

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
export class Question {
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
      ? whyNot(first?.attention, resolution)
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
