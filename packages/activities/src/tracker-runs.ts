import { PAYMENT_ACCOUNT, PAYMENT_AWAITS } from "@durable-payments/protocol";
import type { Client, WorkflowExecutionInfo } from "@temporalio/client";

/** A run that waits. */
export interface WaitingRun {
  readonly workflowId: string;
  readonly runId: string;
}

/** A payout or cardholder that is waited for, and by whom. */
export interface Wait {
  /** As it stands among the values of PaymentAwaits: `payout:<payout_id>`, say. */
  readonly awaited: string;
  /** The runs that wait for it, mostly one. */
  runs: ReadonlyArray<WaitingRun>;
  /** Start of the earliest of these runs, in milliseconds since 1970. */
  since: number;
  /** When the service says that it was created; unknown until the list has shown it. */
  createdAt: number | undefined;
  /** When the list was last read for it. */
  polledAt: number | undefined;
  /** How long that sweep took to reach it, in milliseconds. */
  reachedAfterMs: number;
  /** When the list was last read to its end without showing it. */
  missedAt: number | undefined;
}

/**
 * The runs of an account that wait. Every visibility store knows these operators: SQLite,
 * PostgreSQL, Elasticsearch, Temporal Cloud.
 */
const waitingOf = (account: string): string =>
  `ExecutionStatus = "Running" AND ${PAYMENT_ACCOUNT.name} = "${account}" AND ${PAYMENT_AWAITS.name} IS NOT NULL`;

const PAGE_SIZE = 1_000;

/** How far visibility may lag behind a run's start. */
const LAG_MS = 10_000;

/**
 * Listing all who wait takes at most this share of the time, and so does listing the runs that have
 * started since, in between: a visibility store spends up to a millisecond on each run that it shows.
 */
const SHARE_OF_TIME = 1 / 20;

const signalledKey = ({ runId }: Pick<WaitingRun, "runId">, awaited: string): string =>
  `${runId} ${awaited}`;

/** Who waits, as Temporal's visibility knows it; whom the tracker has signalled is kept apart. */
export class WaitingRuns {
  #waits = new Map<string, Wait>();
  /** What runs were signalled: visibility shows them as waiting for it for a while. */
  #signalled = new Set<string>();
  readonly #query: string;
  #listedAt = 0;
  #allListedAt = 0;
  #allTookMs = 0;
  #newTookMs = 0;

  /** @param account hash of the account whose runs are asked for; ids of others mean nothing to it */
  constructor(account: string) {
    this.#query = waitingOf(account);
  }

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

  /** Lists who waits, where it is time for that: all, or those that have started since. */
  async refresh(client: Client): Promise<void> {
    const now = Date.now();
    const isForAll = now - this.#allListedAt >= this.#allTookMs / SHARE_OF_TIME;
    if (!isForAll && now - this.#listedAt < this.#newTookMs / SHARE_OF_TIME) return;
    const since = new Date(this.#listedAt - LAG_MS).toISOString();
    const query = isForAll ? this.#query : `${this.#query} AND StartTime > "${since}"`;
    const before = this.#waits;
    const signalledBefore = this.#signalled;
    if (isForAll) {
      this.#waits = new Map();
      // Whom visibility does not show as waiting any more never comes back.
      this.#signalled = new Set();
    }
    for await (const run of client.workflow.list({ query, pageSize: PAGE_SIZE })) {
      for (const awaited of run.typedSearchAttributes.get(PAYMENT_AWAITS) ?? []) {
        const key = signalledKey(run, awaited);
        if (signalledBefore.has(key)) this.#signalled.add(key);
        else this.#add(awaited, run, before.get(awaited));
      }
    }
    this.#listedAt = now;
    if (isForAll) {
      this.#allListedAt = now;
      this.#allTookMs = Date.now() - now;
    } else {
      this.#newTookMs = Date.now() - now;
    }
  }

  /** A run was signalled, or is gone. */
  signalled(wait: Wait, signalled: WaitingRun): void {
    this.#signalled.add(signalledKey(signalled, wait.awaited));
    wait.runs = wait.runs.filter(({ runId }) => runId !== signalled.runId);
    if (wait.runs.length === 0) this.#waits.delete(wait.awaited);
  }

  #add(
    awaited: string,
    { runId, startTime, workflowId }: WorkflowExecutionInfo,
    before: Wait | undefined,
  ): void {
    const since = startTime.getTime();
    const known = this.#waits.get(awaited);
    if (known === undefined) {
      this.#waits.set(awaited, {
        awaited,
        runs: [{ workflowId, runId }],
        since,
        createdAt: before?.createdAt,
        polledAt: before?.polledAt,
        reachedAfterMs: before?.reachedAfterMs ?? 0,
        missedAt: before?.missedAt,
      });
    } else if (!known.runs.some((run) => run.runId === runId)) {
      known.runs = [...known.runs, { workflowId, runId }];
      known.since = Math.min(known.since, since);
    }
  }
}
