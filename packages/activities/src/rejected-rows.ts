import { type Client, WorkflowFailedError } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { type BatchRow, pageId, readPage } from "./batch-rows.ts";

/** How long an answer holds before it is asked for again. */
const HOLDS_FOR_MS = 5_000;

const identityOf = ({ fingerprint, workflowId }: BatchRow): string =>
  `${workflowId}\n${fingerprint}`;

/**
 * The rows of bulk runs that people have rejected while this one was under way: another file may hold
 * the same row, and was imported before. Those rejected before are looked for by the import.
 */
export class RejectedRows {
  readonly #client: Client;
  readonly #batch: string;
  readonly #query: string;
  readonly #overruled: ReadonlySet<string>;
  readonly #rows = new Set<string>();
  readonly #read = new Set<string>();
  #askedAt = -Infinity;

  /**
   * @param run its workflow id, when it began, in milliseconds since 1970, and the run ids of rejected
   *   bulk runs whose rejection somebody has overruled for it.
   */
  constructor(
    client: Client,
    {
      batch,
      overruled,
      since,
    }: {
      readonly batch: string;
      readonly since: number;
      readonly overruled: ReadonlyArray<string>;
    },
  ) {
    this.#client = client;
    this.#batch = batch;
    this.#query = `WorkflowType = "payoutBatch" AND ExecutionStatus = "Failed" AND CloseTime >= "${new Date(since).toISOString()}"`;
    this.#overruled = new Set(overruled);
  }

  /** Looks what has been rejected by now, unless it has just done so. */
  async refresh(): Promise<void> {
    const now = performance.now();
    if (now - this.#askedAt < HOLDS_FOR_MS) return;
    for await (const run of this.#client.workflow.list({ query: this.#query })) {
      const { memo, runId, workflowId } = run;
      // That of its own id was overruled by who has it retried.
      if (workflowId === this.#batch || this.#overruled.has(runId)) continue;
      if (this.#read.has(runId)) continue;
      if (await this.#isRejected(workflowId, runId)) {
        for (let page = 1; page <= Number(memo?.["pages"] ?? 0); page += 1) {
          await this.#addPage(pageId(workflowId, page));
        }
      }
      this.#read.add(runId);
    }
    this.#askedAt = now;
  }

  has(row: BatchRow): boolean {
    return this.#rows.has(identityOf(row));
  }

  async #isRejected(workflowId: string, runId: string): Promise<boolean> {
    try {
      await this.#client.workflow.result(workflowId, runId, { followRuns: false });
      return false;
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
      return error.cause instanceof ApplicationFailure && error.cause.type === "Rejected";
    }
  }

  async #addPage(id: string): Promise<void> {
    try {
      for (const row of await readPage(this.#client, id)) this.#rows.add(identityOf(row));
    } catch (error) {
      // Temporal has deleted it, as it is about to delete its bulk run.
      if (!(error instanceof ApplicationFailure) || error.type !== "PageMissing") throw error;
    }
  }
}
