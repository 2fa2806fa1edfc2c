import type { Progress, StepProgress } from "@durable-payments/protocol";
import { workflowInfo } from "@temporalio/workflow";

/** Keeps the progress of a run. */
export class ProgressTracker {
  #steps: Array<StepProgress> = [];
  #ids: Record<string, string> = {};
  #shown: Record<string, unknown> = {};
  #notes: Array<string> = [];
  #stage = "starting";
  #hasChanged = false;

  /** All of it, but for what a person is asked. */
  get progress(): Omit<Progress, "attention"> {
    return {
      workflow: workflowInfo().workflowType,
      stage: this.#stageUnderWay,
      steps: this.#steps,
      ids: this.#ids,
      shown: this.#shown,
      notes: this.#notes,
    };
  }

  /** The stage that was entered last; once that step has ended, one that still goes on beside it. */
  get #stageUnderWay(): string {
    const entered = this.#steps.find(({ name }) => name === this.#stage);
    const underWay = this.#steps.findLast(({ until }) => until === undefined);
    return entered?.until === undefined ? this.#stage : (underWay?.name ?? this.#stage);
  }

  /** Adds a step; returns the name under which it is kept: one that was used before is numbered. */
  begin(called: string, note: string): string {
    const before = this.#steps.filter(({ name }) => name.replace(/ \(\d+\)$/, "") === called);
    const name = before.length === 0 ? called : `${called} (${before.length + 1})`;
    const since = new Date().toISOString();
    this.#steps.push({ name, status: "running", since, note });
    return name;
  }

  /** The run has reached a step, or its end. */
  enter(stage: string): void {
    this.#stage = stage;
    this.#hasChanged = true;
  }

  /** A step goes on. */
  update(step: string, change: Pick<StepProgress, "status"> & Partial<StepProgress>): void {
    this.#steps = this.#steps.map((kept) => (kept.name === step ? { ...kept, ...change } : kept));
    this.#hasChanged = true;
  }

  /** A step has ended. */
  end(step: string, change: Pick<StepProgress, "status"> & Partial<StepProgress>): void {
    this.update(step, { ...change, until: new Date().toISOString() });
  }

  /** Ids that are known by now. */
  know(ids: Readonly<Record<string, string>>): void {
    this.#ids = { ...this.#ids, ...ids };
    this.#hasChanged = true;
  }

  /** Something for whoever reads the result. */
  note(text: string): void {
    this.#notes.push(text);
    this.#hasChanged = true;
  }

  /** Something for whom the run waits for. */
  show(what: Readonly<Record<string, unknown>>): void {
    this.#shown = { ...this.#shown, ...what };
    this.#hasChanged = true;
  }

  /** Whether it has changed since this was asked last. */
  takeChange(): boolean {
    const hasChanged = this.#hasChanged;
    this.#hasChanged = false;
    return hasChanged;
  }
}
