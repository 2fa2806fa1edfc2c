import { Context, Metric } from "effect";

/** What is looked up when somebody asks, by name. */
const DESCRIPTIONS = {
  payments_writes: "Writes of the ledger by operation and state",
  payments_waits: "Waits at the service by what is waited for",
  payments_questions: "Questions and approvals that a person has not answered",
  payments_question_oldest_seconds: "How long the oldest question to a person is open",
  payments_untold: "Writes whose run has yet to be notified of an answer",
  payments_sends_paused: "Whether all sends are paused (1) or not (0)",
  payments_ledger_stopped: "Whether the ledger was restored and waits for recover (1) or not (0)",
  payments_ledger_sequence: "Changes of the ledger so far",
  payments_credential_expiry_timestamp_seconds: "When a credential expires that says when",
} as const;

/** That of the process. */
const REGISTRY = Context.empty();

/**
 * Sets a gauge.
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
