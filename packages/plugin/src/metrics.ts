import { clientSecondsUntilExpiry } from "@durable-payments/api-core";
import type { SecondsUntilExpiry } from "@durable-payments/api-core/credentials";
import { messageOf } from "@durable-payments/api-core/values";
import type { Ledger, Limits, Overview } from "@durable-payments/ledger";
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
  payments_questions: "Questions and approvals that a person has not answered",
  payments_question_amount: "Money of the questions and approvals that a person has not answered",
  payments_question_oldest_seconds: "How long the oldest question to a person has been open",
  payments_batch_age_seconds: "Age of each file that is not finished",
  payments_batch_next_row: "First row of an open file that was not started, if any",
  payments_limit: "Limits and approval thresholds of the ledger, in units of the currency",
  payments_ledger_disk_free_ratio: "Free part of the disk of a ledger in a file",
  payments_untold: "Writes whose run has yet to be notified of an answer",
  payments_sends_paused: "Whether all sends are paused (1) or not (0)",
  payments_ledger_stopped: "Whether the ledger was restored and waits for recover (1) or not (0)",
  payments_ledger_sequence: "Changes to the ledger so far",
  payments_credential_expiry_timestamp_seconds: "When a credential expires, if known",
} as const;

type Labels = Readonly<Record<string, string>>;

/** Sets a gauge of one scrape. */
type SetGauge = (name: keyof typeof DESCRIPTIONS, value: number, labels?: Labels) => void;

const sumOf = <A>(all: ReadonlyArray<A>, of: (one: A) => number): number =>
  all.reduce((sum, one) => sum + of(one), 0);

/** Labels of an account: none if it has no name, and its hash if only other workers have it. */
const labelsOf = (accounts: Accounts, hash: string): Labels => {
  const { name } = accounts.find((one) => one.hash === hash) ?? { name: hash };
  return name === undefined ? {} : { account: name };
};

const secondsSince = (state: Overview["state"], since: number): number =>
  (state.now - since) / 1000;

/** Shows what is open of one account; with zeros, so that an alert sees the end of what it fired for. */
const showAccount = ({ state, waits, writes }: Overview, labels: Labels, set: SetGauge): void => {
  for (const [key, alike] of Map.groupBy(writes, (row) => `${row.operation} ${row.state}`)) {
    const [operation = "", wanted = ""] = key.split(" ");
    const rows = sumOf(alike, (row) => row.rows);
    set("payments_writes", rows, { ...labels, operation, state: wanted });
  }
  for (const kind of ["outcome", "approval"]) {
    const asked = writes.filter(({ question }) => question === kind);
    const of = { ...labels, kind };
    set(
      "payments_questions",
      sumOf(asked, ({ rows }) => rows),
      of,
    );
    const ages = asked.map(({ since }) => secondsSince(state, since));
    set("payments_question_oldest_seconds", Math.max(0, ...ages), of);
    for (const { amount, currency } of asked) {
      if (currency !== null) set("payments_question_amount", Number(amount), { ...of, currency });
    }
  }
  for (const kind of ["payout", "cardholder", "balance"]) {
    const wait = waits.find((one) => one.kind === kind);
    const of = { ...labels, kind };
    set("payments_waits", wait?.count ?? 0, of);
    set("payments_wait_oldest_seconds", wait ? secondsSince(state, wait.since) : 0, of);
  }
};

const showLimits = (limits: Limits, labels: Labels, set: SetGauge): void => {
  for (const [kind, amounts] of Object.entries(limits)) {
    for (const [currency, amount] of Object.entries(amounts ?? {})) {
      set("payments_limit", Number(amount), { ...labels, kind, currency });
    }
  }
};

const showExpiry = (seconds: SecondsUntilExpiry, labels: Labels, set: SetGauge): void => {
  for (const [credential, left] of Object.entries(seconds)) {
    set("payments_credential_expiry_timestamp_seconds", Math.round(Date.now() / 1000 + left), {
      ...labels,
      credential,
    });
  }
};

/** The connection to Temporal belongs to the program that runs the worker. */
let temporalExpiry: (() => SecondsUntilExpiry) | undefined;

/** Says how to find out when the credentials of the connection to Temporal expire. */
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

/** A source that fails leaves the rest of the metrics as they are. */
const orNothing = async <A>(look: () => Promise<A>): Promise<A | undefined> => {
  try {
    return await look();
  } catch (error) {
    Runtime.instance().logger.debug(`Metrics: ${messageOf(error)}`);
    return undefined;
  }
};

/** However often it is scraped, the ledger is asked once in this time. */
const LOOK_EVERY_MS = 15_000;

/** Longer than Prometheus is usually told to wait between two scrapes. */
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
): (() => Promise<string>) => {
  const holder = randomUUID();
  let lookedAt = -Infinity;
  let show: (set: SetGauge) => void = () => undefined;
  const lookAtLedger = async (): Promise<void> => {
    if (performance.now() - lookedAt < LOOK_EVERY_MS) return;
    lookedAt = performance.now();
    show = () => undefined;
    if (!(await ledger.lease("metrics", holder, LEASE_MS))) return;
    const hashes = accounts.map(({ hash }) => hash);
    const [overview, pauses, batches, limits, disk] = await Promise.all([
      ledger.overview(),
      ledger.pauses(),
      ledger.openBatches(),
      Promise.all(hashes.map((hash) => ledger.limits(hash))),
      ledger.isOfOneHost ? orNothing(() => statfs(dirname(ledger.place))) : undefined,
    ]);
    const { state, untold, waits, writes } = overview;
    show = (set) => {
      for (const hash of new Set([...hashes, ...[...waits, ...writes].map((one) => one.account)])) {
        const of = <A extends { readonly account: string }>(all: ReadonlyArray<A>) =>
          all.filter(({ account }) => account === hash);
        const own = { ...overview, waits: of(waits), writes: of(writes) };
        showAccount(own, labelsOf(accounts, hash), set);
      }
      limits.forEach((one, index) => {
        showLimits(one, labelsOf(accounts, hashes[index] ?? ""), set);
      });
      for (const { account, id: batch, next, since, state: stage } of batches) {
        const labels = { ...labelsOf(accounts, account), batch, state: stage };
        set("payments_batch_age_seconds", secondsSince(state, since), labels);
        if (next !== null) set("payments_batch_next_row", next, labels);
      }
      set("payments_untold", untold);
      set("payments_ledger_sequence", state.sequence);
      set("payments_ledger_stopped", state.stopped === null ? 0 : 1);
      set("payments_sends_paused", pauses.some(({ scope }) => scope === "all") ? 1 : 0);
      if (disk) set("payments_ledger_disk_free_ratio", disk.bavail / disk.blocks);
    };
  };
  return async () => {
    // It brings an HTTP server of Effect's, which a worker without metrics does not need.
    const { formatUnsafe } = await import("effect/observability/PrometheusMetrics");
    const [sdk = ""] = await Promise.all([orNothing(readSdkMetrics), orNothing(lookAtLedger)]);
    const context = Context.make(Metric.MetricRegistry, recorded());
    const set: SetGauge = (name, value, attributes = {}) =>
      Metric.gauge(name, { description: DESCRIPTIONS[name], attributes }).updateUnsafe(
        value,
        context,
      );
    show(set);
    set("payments_worker_start_time_seconds", Math.round(performance.timeOrigin / 1000));
    for (const check of checks) {
      const { account, check: name, ok } = check();
      set("payments_ready", ok ? 1 : 0, { check: name, ...(account !== undefined && { account }) });
    }
    for (const { name, options } of accounts) {
      const labels = { peer: "service", ...(name !== undefined && { account: name }) };
      showExpiry(clientSecondsUntilExpiry(options), labels, set);
    }
    if (temporalExpiry !== undefined) showExpiry(temporalExpiry(), { peer: "temporal" }, set);
    return `${formatUnsafe(context)}${sdk}`;
  };
};
