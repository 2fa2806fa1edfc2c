import { Context, Metric } from "effect";

/** What is looked up when somebody asks, by name. */
const DESCRIPTIONS = {
  payments_runs: "Running runs of payments by workflow type and stage",
  payments_runs_in_doubt:
    "Runs with a send of which nobody knows whether it was carried out, by whether they have ended",
  payments_human_task_oldest_seconds: "How long the oldest question to a person is open",
  payments_sends_paused: "Whether sends are paused (1) or not (0)",
  payments_list_lag_max_seconds: "The longest lag of a list of the service that was ever seen",
  payments_list_lag_assumed_seconds: "The lag of lists that reconciliations wait for at least",
  payments_credential_expiry_timestamp_seconds: "When a credential expires that says when",
} as const;

/** That of the process. */
const REGISTRY = Context.empty();

/**
 * Set a gauge.
 *
 * @param value not a number (NaN) where it is not known.
 */
export const setGauge = (
  name: keyof typeof DESCRIPTIONS,
  value: number,
  labels: Readonly<Record<string, string>> = {},
): void => {
  Metric.gauge(name, { description: DESCRIPTIONS[name], attributes: labels }).updateUnsafe(
    value,
    REGISTRY,
  );
};

/** The label of an account: none for the one without a name. */
export const accountLabel = (account: string | undefined): { readonly account?: string } =>
  account === undefined ? {} : { account };
