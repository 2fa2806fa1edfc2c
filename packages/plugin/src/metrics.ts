import { clientSecondsUntilExpiry } from "@durable-payments/api-core";
import type { SecondsUntilExpiry } from "@durable-payments/api-core/credentials";
import { messageOf } from "@durable-payments/api-core/values";
import type { Ledger, Overview } from "@durable-payments/ledger";
import { Runtime } from "@temporalio/worker";
import { Context, Metric } from "effect";
import { randomUUID } from "node:crypto";
import type { Accounts } from "./accounts.ts";

/** Gauges of a scrape, by name. */
const DESCRIPTIONS = {
  payments_writes: "Writes in the ledger by operation and state",
  payments_waits: "Waits for the service by kind",
  payments_questions: "Questions and approvals that a person has not answered",
  payments_question_oldest_seconds: "How long the oldest question to a person has been open",
  payments_untold: "Writes whose run has yet to be notified of an answer",
  payments_sends_paused: "Whether all sends are paused (1) or not (0)",
  payments_ledger_stopped: "Whether the ledger was restored and waits for recover (1) or not (0)",
  payments_ledger_sequence: "Changes to the ledger so far",
  payments_credential_expiry_timestamp_seconds: "When a credential expires, if known",
} as const;

type Labels = Readonly<Record<string, string>>;

/** Sets a gauge of one scrape. */
type SetGauge = (name: keyof typeof DESCRIPTIONS, value: number, labels?: Labels) => void;

const countOf = (writes: Overview["writes"]): number =>
  writes.reduce((count, { rows }) => count + rows, 0);

const showOverview = ({ state, untold, waits, writes }: Overview, set: SetGauge): void => {
  for (const { operation, state: wanted } of writes) {
    const alike = writes.filter((row) => row.operation === operation && row.state === wanted);
    set("payments_writes", countOf(alike), { operation, state: wanted });
  }
  const asked = writes.filter(({ question }) => question !== null);
  for (const kind of ["outcome", "approval"]) {
    const ofKind = asked.filter(({ question }) => question === kind);
    set("payments_questions", countOf(ofKind), { kind });
  }
  const since = asked.map((row) => (state.now - row.since) / 1000);
  set("payments_question_oldest_seconds", Math.max(0, ...since));
  for (const kind of ["payout", "cardholder", "balance"]) {
    const open = waits.filter((wait) => wait.kind === kind);
    set(
      "payments_waits",
      open.reduce((sum, { count }) => sum + count, 0),
      { kind },
    );
  }
  set("payments_untold", untold);
  set("payments_ledger_sequence", state.sequence);
  set("payments_ledger_stopped", state.stopped === null ? 0 : 1);
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
export const makeScrape = (ledger: Ledger, accounts: Accounts): (() => Promise<string>) => {
  const holder = randomUUID();
  let lookedAt = -Infinity;
  let show: (set: SetGauge) => void = () => undefined;
  const lookAtLedger = async (): Promise<void> => {
    if (performance.now() - lookedAt < LOOK_EVERY_MS) return;
    lookedAt = performance.now();
    show = () => undefined;
    if (!(await ledger.lease("metrics", holder, LEASE_MS))) return;
    const [overview, pauses] = await Promise.all([ledger.overview(), ledger.pauses()]);
    show = (set) => {
      showOverview(overview, set);
      set("payments_sends_paused", pauses.some(({ scope }) => scope === "all") ? 1 : 0);
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
    for (const { name, options } of accounts) {
      const labels = { peer: "service", ...(name !== undefined && { account: name }) };
      showExpiry(clientSecondsUntilExpiry(options), labels, set);
    }
    if (temporalExpiry !== undefined) showExpiry(temporalExpiry(), { peer: "temporal" }, set);
    return `${formatUnsafe(context)}${sdk}`;
  };
};
