import { clientSecondsUntilExpiry, PaymentsClient } from "@durable-payments/client/effect";
import type { SecondsUntilExpiry } from "@durable-payments/client/credentials";
import { messageOf } from "@durable-payments/client/values";
import type {
  Attention,
  AttentionKind,
  Batch,
  Ledger,
  Limits,
  Overview,
} from "@durable-payments/ledger";
import { Runtime } from "@temporalio/worker";
import { Context, Metric } from "effect";
import { randomUUID } from "node:crypto";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Accounts } from "./accounts.ts";
import type { Check } from "./health.ts";

/** Gauges of a scrape, by name. */
const DESCRIPTIONS = {
  payments_worker_start_time_seconds: "When this worker started",
  payments_ready: "Whether a check of /readyz passes (1) or not (0)",
  payments_writes: "Open writes in the ledger by operation and state",
  payments_waits: "Waits for the service by kind",
  payments_wait_oldest_seconds: "How long the oldest wait for the service has been open",
  payments_questions:
    "Items that wait for a person: questions, approvals, also of files and limits, and blocked payments",
  payments_question_amount: "Money of the questions and approvals that a person has not answered",
  payments_question_oldest_seconds: "How long the oldest question to a person has been open",
  payments_recent_failures:
    "Runs that failed, timed out or were terminated in the last 24 hours, and payouts that came back",
  payments_batch_age_seconds: "Age of each file that is not finished",
  payments_batch_next_row: "First row of an open file that was not started, if any",
  payments_limit: "Limits and approval thresholds of the ledger, in units of the currency",
  payments_ledger_disk_free_ratio: "Free part of the disk of a ledger in a file",
  payments_to_notify: "Writes whose run has yet to be notified of an answer",
  payments_sends_paused: "Whether all sends are paused (1) or not (0)",
  payments_ledger_stopped: "Whether the ledger was restored and waits for recover (1) or not (0)",
  payments_ledger_sequence: "Changes to the ledger so far",
  payments_request_rate_limit:
    "Requests per second at which this worker sends at most, if it knows a limit",
  payments_credential_expiry_timestamp_seconds: "When a credential expires, if known",
} as const;

type Labels = Readonly<Record<string, string>>;

/** Adds to a gauge of one scrape, which begins at 0. */
type AddGauge = (name: keyof typeof DESCRIPTIONS, value: number, labels?: Labels) => void;

/** Labels of an account: none if it has no name, and its hash if only other workers have it. */
const labelsOf = (accounts: Accounts, hash: string): Labels => {
  const { name } = accounts.find((one) => one.hash === hash) ?? { name: hash };
  return name === undefined ? {} : { account: name };
};

const secondsSince = (state: Overview["state"], since: number): number =>
  (state.now - since) / 1000;

/** An open file; or looser limits, which wait for approval as it does. */
type OpenFile = Pick<Batch, "createdAt" | "state">;

const OPEN = ["uploading", "reading", "needsApproval", "approved"] as const;

/** The reasons why something waits for a person: a question of a write, or what blocks a payment. */
const QUESTIONS = [
  "outcome",
  "approval",
  "word",
  "late",
  "unreadable",
  "missing",
  "stalled",
  "unserved",
] as const satisfies ReadonlyArray<AttentionKind | "approval" | "outcome">;

/** Lists the items of one account that wait for a person. */
const waitingItems = (
  writes: Overview["writes"],
  files: ReadonlyArray<OpenFile>,
  attention: ReadonlyArray<Attention>,
): ReadonlyArray<Pick<Attention, "count" | "money" | "since"> & { readonly kind: string }> => [
  ...attention,
  ...writes.flatMap(({ amount, currency, question: kind, rows: count, since }) =>
    kind === null
      ? []
      : [{ kind, count, since, money: currency === null ? [] : [{ amount, currency }] }],
  ),
  ...files.flatMap(({ createdAt: since, state }) =>
    state === "needsApproval" ? [{ kind: "approval", count: 1, since, money: [] }] : [],
  ),
];

/** Writes the open items of one account, also zeros, so that an alert sees the end of its cause. */
const showAccount = (
  { failures, state, waits, writes }: Overview,
  items: ReturnType<typeof waitingItems>,
  labels: Labels,
  add: AddGauge,
): void => {
  for (const { operation, rows, state: wanted } of writes) {
    add("payments_writes", rows, { ...labels, operation, state: wanted });
  }
  for (const kind of QUESTIONS) {
    const of = { ...labels, kind };
    const found = items.filter((item) => item.kind === kind);
    add("payments_questions", 0, of);
    for (const { count, money } of found) {
      add("payments_questions", count, of);
      for (const { amount, currency } of money)
        add("payments_question_amount", Number(amount), { ...of, currency });
    }
    const oldest = Math.min(state.now, ...found.map(({ since }) => since));
    add("payments_question_oldest_seconds", secondsSince(state, oldest), of);
  }
  for (const kind of ["payout", "cardholder", "balance"]) {
    const { count = 0, since = state.now } = waits.find((wait) => wait.kind === kind) ?? {};
    add("payments_waits", count, { ...labels, kind });
    add("payments_wait_oldest_seconds", secondsSince(state, since), { ...labels, kind });
  }
  for (const kind of ["failed", "timedOut", "terminated", "returned"]) {
    const count = failures.find((failure) => failure.kind === kind)?.count ?? 0;
    add("payments_recent_failures", count, { ...labels, kind });
  }
};

const showLimits = ({ approveAbove, maxAmounts }: Limits, labels: Labels, add: AddGauge): void => {
  for (const [kind, amounts] of Object.entries({ approveAbove, maxAmounts })) {
    for (const [currency, amount] of Object.entries(amounts ?? {})) {
      add("payments_limit", Number(amount), { ...labels, kind, currency });
    }
  }
};

const showExpiry = (seconds: SecondsUntilExpiry, labels: Labels, add: AddGauge): void => {
  for (const [credential, left] of Object.entries(seconds)) {
    add("payments_credential_expiry_timestamp_seconds", Math.round(Date.now() / 1000 + left), {
      ...labels,
      credential,
    });
  }
};

/** The connection to Temporal belongs to the program that runs the worker. */
let temporalExpiry: (() => SecondsUntilExpiry) | undefined;

/** Explains how to find out when the credentials of the connection to Temporal expire. */
export const showTemporalExpiry = (secondsUntilExpiry: () => SecondsUntilExpiry): void => {
  temporalExpiry = secondsUntilExpiry;
};

const SDK_ANSWERS_WITHIN_MS = 3_000;

/** Reads the metrics of the SDK's core and of workflows, if the Runtime of this process exports them for Prometheus. */
const readSdkMetrics = async (): Promise<string> => {
  const { metricsExporter } = Runtime.instance().options.runtimeOptions;
  if (metricsExporter?.type !== "prometheus") return "";
  const response = await fetch(
    `http://${metricsExporter.socketAddr.replace("0.0.0.0", "127.0.0.1")}/metrics`,
    { signal: AbortSignal.timeout(SDK_ANSWERS_WITHIN_MS) },
  );
  return response.text();
};

/** A failed source does not affect the other metrics. */
const orNothing = async <A>(look: () => Promise<A>): Promise<A | undefined> => {
  try {
    return await look();
  } catch (error) {
    Runtime.instance().logger.debug(`Metrics: ${messageOf(error)}`);
    return undefined;
  }
};

/** The ledger is read once in this time, however often Prometheus scrapes. */
const LOOK_EVERY_MS = 15_000;

/** Longer than the usual interval between two scrapes of Prometheus. */
const LEASE_MS = 120_000;

/** Metrics that a process records, and that users may have recorded under names of their own. */
const recorded = (): Metric.MetricRegistry =>
  new Map(
    [...Context.get(Context.empty(), Metric.MetricRegistry)].filter(([, { id }]) =>
      id.startsWith("payments_"),
    ),
  );

/**
 * Makes what writes the metrics of a worker as Prometheus reads them: its own, those of the SDK, and, from one process
 * of all that share a ledger, those of the ledger.
 */
export const makeScrape = (
  ledger: Ledger,
  accounts: Accounts,
  checks: ReadonlyArray<Check>,
  lateAfterMs: number,
): (() => Promise<string>) => {
  const holder = randomUUID();
  let lookedAt = -Infinity;
  let show: (add: AddGauge) => void = () => undefined;
  const lookAtLedger = async (): Promise<void> => {
    if (performance.now() - lookedAt < LOOK_EVERY_MS) return;
    lookedAt = performance.now();
    show = () => undefined;
    if (!(await ledger.lease("metrics", holder, LEASE_MS))) return;
    const hashes = accounts.map(({ hash }) => hash);
    const [overview, pauses, batches, limits, attention, disk] = await Promise.all([
      ledger.overview(),
      ledger.pauses(),
      ledger.batches({ states: OPEN }),
      Promise.all(hashes.map((hash) => ledger.limits(hash))),
      ledger.attention({ lateAfterMs }),
      ledger.isOfOneHost ? orNothing(() => statfs(dirname(ledger.place))) : undefined,
    ]);
    const { failures, state, toNotify, waits, writes } = overview;
    const next = await Promise.all(
      batches.map(({ id }) => ledger.batchRows(id, { states: ["waiting"], limit: 1 })),
    );
    show = (add) => {
      const open = [...waits, ...writes, ...failures, ...batches, ...attention].map(
        ({ account }) => account ?? "",
      );
      for (const hash of new Set([...hashes, ...open])) {
        const of = <A extends { readonly account: string | null }>(all: ReadonlyArray<A>) =>
          all.filter(({ account }) => (account ?? "") === hash);
        const own = {
          ...overview,
          failures: of(failures),
          waits: of(waits),
          writes: of(writes),
        };
        const { pending } = limits[hashes.indexOf(hash)] ?? {};
        const asked = pending ? [{ createdAt: pending.at, state: "needsApproval" as const }] : [];
        const labels = labelsOf(accounts, hash);
        const items = waitingItems(own.writes, [...of(batches), ...asked], of(attention));
        showAccount(own, items, labels, add);
      }
      limits.forEach((one, index) => {
        showLimits(one, labelsOf(accounts, hashes[index] ?? ""), add);
      });
      for (const [at, { account, createdAt, id: batch, state: stage }] of batches.entries()) {
        const labels = { ...labelsOf(accounts, account), batch, state: stage };
        add("payments_batch_age_seconds", secondsSince(state, createdAt), labels);
        for (const { number } of next[at] ?? []) add("payments_batch_next_row", number, labels);
      }
      add("payments_to_notify", toNotify);
      add("payments_ledger_sequence", state.sequence);
      add("payments_ledger_stopped", state.stopped === null ? 0 : 1);
      add("payments_sends_paused", pauses.some(({ scope }) => scope === "all") ? 1 : 0);
      if (disk) add("payments_ledger_disk_free_ratio", disk.bavail / disk.blocks);
    };
  };
  return async () => {
    // It brings an HTTP server of Effect's, which a worker without metrics does not need.
    const { formatUnsafe } = await import("effect/observability/PrometheusMetrics");
    const [sdk = ""] = await Promise.all([orNothing(readSdkMetrics), orNothing(lookAtLedger)]);
    const context = Context.make(Metric.MetricRegistry, recorded());
    const add: AddGauge = (name, value, attributes = {}) =>
      Metric.gauge(name, { description: DESCRIPTIONS[name], attributes }).modifyUnsafe(
        value,
        context,
      );
    show(add);
    add("payments_worker_start_time_seconds", Math.round(performance.timeOrigin / 1000));
    for (const check of checks) {
      const { account, check: name, ok } = check();
      add("payments_ready", ok ? 1 : 0, { check: name, ...(account !== undefined && { account }) });
    }
    for (const { name, runtime } of accounts) {
      const rate = await runtime.runPromise(PaymentsClient.useSync((client) => client.rate()));
      if (rate === undefined) continue;
      add("payments_request_rate_limit", rate, name === undefined ? {} : { account: name });
    }
    for (const { name, options } of accounts) {
      const labels = { peer: "service", ...(name !== undefined && { account: name }) };
      showExpiry(clientSecondsUntilExpiry(options), labels, add);
    }
    if (temporalExpiry !== undefined) showExpiry(temporalExpiry(), { peer: "temporal" }, add);
    return `${formatUnsafe(context)}${sdk}`;
  };
};
