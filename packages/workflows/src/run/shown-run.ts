import { mergePatch, type Progress, summaryOfInput } from "@durable-payments/protocol";
import { workflowInfo } from "@temporalio/workflow";
import { currentDetails } from "./current-details.ts";
import type { ResetContext } from "./reset-context.ts";

/** What a run is to do, by its input as people have amended it, and how the Web UI shows that. */
export class ShownRun {
  readonly #startedWith: unknown;
  readonly #resetContext: ResetContext;
  /** What people have amended of the input while the run asked. */
  readonly #amended: Array<{ readonly by: string; readonly amendment: unknown }> = [];

  constructor(startedWith: unknown, resetContext: ResetContext) {
    this.#startedWith = startedWith;
    this.#resetContext = resetContext;
  }

  /** Somebody has amended it, in the shape of the input. */
  amend(by: string, amendment: Readonly<Record<string, unknown>>): void {
    this.#amended.push({ by, amendment });
  }

  /** The run as markdown. */
  details(progress: Progress): string {
    const { runId, workflowId, workflowType } = workflowInfo();
    const input = this.#amended.reduce<unknown>(
      (amended, { amendment }) => mergePatch(amended, amendment),
      this.#resetContext.input(this.#startedWith),
    );
    const amendedBy = [...this.#resetContext.amendedBy, ...this.#amended.map(({ by }) => by)];
    return currentDetails(progress, {
      workflowId,
      runId,
      summary: summaryOfInput(workflowType, input),
      amendedBy: [...new Set(amendedBy)],
    });
  }
}
