import { keyOfStep } from "@durable-payments/protocol";
import { workflowInfo } from "@temporalio/workflow";

/** Derive the `unique_request_id` of a step of the run that calls. See {@link keyOfStep}. */
export const stepKey = (step: string): string => keyOfStep(workflowInfo().workflowId, step);

/** Most amendments of one step whose keys are searched for. */
const MOST_AMENDMENTS = 20;

/** The keys (`unique_request_id`) under which a step sends, derived from its name. */
export class StepKeys {
  readonly #step: string;
  readonly #isKeyed: boolean;
  readonly #isSentBefore: boolean;
  /** What the keys are derived from: the step, until it needs others than it has sent under. */
  #name: string;
  #amendments: number;
  /** The key of an earlier send that only the journal knew of. */
  #before: string | undefined;

  constructor(
    { isKeyed, step }: { readonly isKeyed: boolean; readonly step: string },
    before: { readonly amendments: number; readonly isSentBefore: boolean },
  ) {
    this.#step = step;
    this.#name = step;
    this.#isKeyed = isKeyed;
    this.#isSentBefore = before.isSentBefore;
    this.#amendments = before.amendments;
  }

  /** The key of the next send; undefined for a request that carries none. */
  get current(): string | undefined {
    return this.#isKeyed ? this.#keyOf(this.#amendments) : undefined;
  }

  /** All keys under which it may have sent, in this run and, amended, in those before. */
  get all(): ReadonlyArray<string> {
    if (!this.#isKeyed) return [];
    const most = this.#isSentBefore ? MOST_AMENDMENTS : this.#amendments;
    return [
      ...Array.from({ length: most + 1 }, (_, amendments) => this.#keyOf(amendments)),
      ...(this.#before === undefined ? [] : [this.#before]),
    ];
  }

  /** A refused request was not carried out, so its successor has another key. */
  amended(): void {
    this.#amendments += 1;
  }

  /**
   * What is made anew, or beside what was sent before, needs another key than that: the service would
   * answer with that.
   *
   * @param number of the send whose key it is not to have.
   */
  anew(number: number): void {
    this.#name = `${this.#step}@${number}`;
  }

  /** It was sent under this one, too; undefined: under none but its own. */
  sentUnder(key: string | undefined): void {
    this.#before = key;
  }

  #keyOf(amendments: number): string {
    return stepKey(amendments === 0 ? this.#name : `${this.#name}#${amendments}`);
  }
}
