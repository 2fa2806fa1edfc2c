import {
  askingStages,
  PAYMENT_BATCH,
  PAYMENT_STAGE,
  queryText,
  STEP,
  WORKFLOW,
} from "@durable-payments/protocol";
import { type TemporalSettings, webUiAddress } from "../connection/settings.ts";

/** A list of runs in Temporal's Web UI. */
export interface View {
  readonly name: string;
  /** Temporal's visibility query. */
  readonly query: string;
  /** Its page in the Web UI; null where the settings have no Web UI. */
  readonly link: string | null;
}

const DAY_MS = 24 * 60 * 60_000;

const STAGE = PAYMENT_STAGE.name;

/** Of what runs in the namespace, payment work alone has a stage. */
const PAYMENT_WORK = `${STAGE} IS NOT NULL`;

/** As the Web UI itself writes that a field has one of some values: it can be changed there. */
const isOneOf = (field: string, values: ReadonlyArray<string>): string =>
  `(${values.map((value) => `${field} = ${queryText(value)}`).join(" OR ")})`;

const RUNNING = 'ExecutionStatus = "Running"';

/** The beginning of the day, in UTC, seven days ago: so that the link is the same all day. */
const weekAgo = (now: Date): string =>
  new Date((Math.floor(now.getTime() / DAY_MS) - 7) * DAY_MS).toISOString();

const queriesAt = (now: Date): ReadonlyArray<readonly [name: string, query: string]> => [
  ["needs attention", `${RUNNING} AND ${isOneOf(STAGE, askingStages)}`],
  [
    "failed this week",
    `${PAYMENT_WORK} AND ${isOneOf("ExecutionStatus", ["Failed", "TimedOut", "Terminated"])} AND CloseTime > ${queryText(weekAgo(now))}`,
  ],
  ["waiting for funds", `${RUNNING} AND ${STAGE} STARTS_WITH ${queryText(STEP.awaitFunds)}`],
  ["batches", `WorkflowType = ${queryText(WORKFLOW.payoutBatch)}`],
  ["payouts of batches", `${PAYMENT_BATCH.name} IS NOT NULL`],
  ["all payment work", PAYMENT_WORK],
];

/**
 * Make the lists of runs in Temporal's Web UI that a person looks at. What keeps the project going
 * (sign-in leases, trackers, notifiers, chunks, pauses) is in none of them: it has no PaymentStage, which
 * every run of a payment has from its start on.
 *
 * @param settings the namespace, and the address of the Web UI.
 * @param now of which "this week" is counted back.
 * @returns each with its query, and its link where the address of the Web UI is known.
 */
export const webUiViews = (
  settings: Pick<TemporalSettings, "namespace" | "webUi">,
  now: Date = new Date(),
): ReadonlyArray<View> =>
  queriesAt(now).map(([name, query]) => ({
    name,
    query,
    link: webUiAddress(settings, ["workflows"], query) ?? null,
  }));
