import { inWorkflowContext } from "@temporalio/workflow";

const isLoadedByRun = inWorkflowContext();

class Answer {
  readonly #isLoadedByRun = isLoadedByRun;

  get isLoadedByRun(): boolean {
    return this.#isLoadedByRun;
  }
}

/** Whether this module was loaded by the run, or before it for all runs. */
export const whereLoaded = async (): Promise<boolean> => new Answer().isLoadedByRun;
