import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import { PAYMENT_AWAITS } from "./search-attributes.ts";

/** A payout or cardholder that is waited for, and by whom. */
export interface Wait {
  /** As it stands in the search attribute PaymentAwaits: `payout:<payout_id>`, say. */
  readonly awaited: string;
  /** The runs that wait for it: workflow id by run id. */
  readonly runs: Map<string, string>;
  /** Start of the earliest of these runs, in milliseconds since 1970. */
  readonly since: number;
  /** When the service says that it was created; unknown until the list has shown it. */
  createdAt?: number;
  /** When it was last looked for in the list. */
  lookedAt?: number;
  /** How long that sweep took to come to it, in milliseconds. */
  reachedAfterMs: number;
}

/** Every visibility store knows these operators: SQLite, PostgreSQL, Elasticsearch, Temporal Cloud. */
const WAITING = `ExecutionStatus = "Running" AND ${PAYMENT_AWAITS.name} IS NOT NULL`;

const PAGE_SIZE = 1_000;

/** How far visibility may lag behind a run's start. */
const LAG_MS = 60_000;

/** Listing all who wait takes at most this share of the time; between, only new runs are listed. */
const SHARE_OF_TIME = 1 / 20;

/** Who waits, as Temporal's visibility knows it; whom the tracker has told is kept apart. */
export class WaitingRuns {
  #waits = new Map<string, Wait>();
  /** The runs that were told, by run id: visibility shows them as waiting for a while. */
  #told = new Map<string, string>();
  #listedAt = 0;
  #allListedAt = 0;
  #allTookMs = 0;

  get size(): number {
    return this.#waits.size;
  }

  /** What of a kind is waited for. */
  of(kind: string): ReadonlyArray<Wait> {
    return [...this.#waits.values()].filter(({ awaited }) => awaited.startsWith(`${kind}:`));
  }

  find(awaited: string): Wait | undefined {
    return this.#waits.get(awaited);
  }

  /** Lists who waits: all, where it is time for that, else those that have started since. */
  async refresh(client: Client): Promise<void> {
    const now = Date.now();
    const isForAll = now - this.#allListedAt >= this.#allTookMs / SHARE_OF_TIME;
    const since = new Date(this.#listedAt - LAG_MS).toISOString();
    const query = isForAll ? WAITING : `${WAITING} AND StartTime > "${since}"`;
    const found = new Map<string, WorkflowExecutionInfo[]>();
    for await (const run of client.workflow.list({ query, pageSize: PAGE_SIZE })) {
      const awaited = run.typedSearchAttributes.get(PAYMENT_AWAITS) ?? "";
      if (awaited === "") continue;
      const runs = found.get(awaited);
      if (runs === undefined) found.set(awaited, [run]);
      else runs.push(run);
    }
    const before = this.#waits;
    if (isForAll) {
      this.#waits = new Map();
      this.#forgetTold(found);
      this.#allListedAt = now;
      this.#allTookMs = Date.now() - now;
    }
    for (const [awaited, runs] of found) this.#add(awaited, runs, before.get(awaited));
    this.#listedAt = now;
  }

  /** A run was told, or is gone. */
  told(wait: Wait, runId: string): void {
    this.#told.set(runId, wait.awaited);
    wait.runs.delete(runId);
    if (wait.runs.size === 0) this.#waits.delete(wait.awaited);
  }

  #add(awaited: string, listed: ReadonlyArray<WorkflowExecutionInfo>, before?: Wait): void {
    const waiting = listed.filter(({ runId }) => this.#told.get(runId) !== awaited);
    if (waiting.length === 0) return;
    const known = this.#waits.get(awaited);
    const runs = new Map(known?.runs);
    for (const { runId, workflowId } of waiting) runs.set(runId, workflowId);
    const since = Math.min(...waiting.map(({ startTime }) => startTime.getTime()));
    this.#waits.set(awaited, {
      reachedAfterMs: 0,
      ...before,
      awaited,
      runs,
      since: Math.min(since, known?.since ?? since),
    });
  }

  /** Keeps of those told only whom visibility still shows: the others never come back. */
  #forgetTold(listed: ReadonlyMap<string, ReadonlyArray<WorkflowExecutionInfo>>): void {
    const told = new Map<string, string>();
    for (const [awaited, runs] of listed) {
      for (const { runId } of runs) if (this.#told.get(runId) === awaited) told.set(runId, awaited);
    }
    this.#told = told;
  }
}
