import {
  askingStages,
  PAYMENT_AWAITS,
  PAYMENT_IDS,
  PAYMENT_IN_DOUBT,
  PAYMENT_STAGE,
  queryText,
  queryTexts,
} from "@durable-payments/protocol";

/** Which runs are wanted; what is left out does not matter. */
export interface RunFilter {
  /** How they stand; any of these, or however they stand where there is none. */
  readonly standing: ReadonlyArray<Standing>;
  /** Workflow type. */
  readonly type?: string | undefined;
  /** Started or ended since. */
  readonly since?: Date | undefined;
  /** The step that they are at, or ended at. */
  readonly stage?: string | undefined;
  /**
   * Their workflow id, or one of the keys and ids by which they can be found; where no run has it, what one of
   * them begins with, of the latest 10,000 runs that the rest of the filter finds.
   */
  readonly find?: string | undefined;
}

/** What a query can find: an id that it cannot compare is replaced by the run that has it. */
export interface RunQuery extends RunFilter {
  readonly runId?: string | undefined;
  /** What their workflow id begins with. */
  readonly begin?: string | undefined;
}

/** What a run can be asked for. */
export type Standing = "failed" | "running" | "waiting" | "attention" | "inDoubt";

/** What the names of the steps begin with that wait for the service or for money. */
export const WAITING_STAGE = "await";

const STAGE = PAYMENT_STAGE.name;

const RUNNING = 'ExecutionStatus = "Running"';
/** A run that goes on has a close time in the far future, to some databases. */
const ENDED = 'ExecutionStatus != "Running"';
const ASKING = `${STAGE} IN ${queryTexts(askingStages)}`;

const STANDING: Readonly<Record<Standing, string>> = {
  failed: 'ExecutionStatus IN ("Failed", "TimedOut")',
  running: RUNNING,
  waiting: `${RUNNING} AND NOT ${ASKING} AND (${STAGE} STARTS_WITH ${queryText(WAITING_STAGE)} OR ${PAYMENT_AWAITS.name} IS NOT NULL)`,
  attention: `${RUNNING} AND ${ASKING}`,
  inDoubt: `${ENDED} AND ${PAYMENT_IN_DOUBT.name} IS NOT NULL`,
};

/**
 * Whether a query can compare an id: Temporal's SQL stores find no value with a quote or a backslash.
 * No id of the service has one.
 */
export const isComparable = (id: string): boolean => !/["\\]/.test(id);

/**
 * The query by which Temporal finds these runs. Without a type it finds those that have a
 * PaymentStage: whatever else runs in the namespace is no payment work.
 */
export const runQuery = ({
  begin,
  find,
  runId,
  since,
  stage,
  standing,
  type,
}: RunQuery): string => {
  const time = since && queryText(since.toISOString());
  return [
    // A run that continues as new is one run; what is in doubt of one before is not of those after it.
    ...(standing.includes("inDoubt") ? [] : ['ExecutionStatus != "ContinuedAsNew"']),
    type === undefined ? `${STAGE} IS NOT NULL` : `WorkflowType = ${queryText(type)}`,
    ...(standing.length === 0 ? [] : [standing.map((name) => `(${STANDING[name]})`).join(" OR ")]),
    ...(time === undefined ? [] : [`StartTime >= ${time} OR (${ENDED} AND CloseTime >= ${time})`]),
    ...(stage === undefined ? [] : [`${STAGE} = ${queryText(stage)}`]),
    ...(find === undefined
      ? []
      : [`WorkflowId = ${queryText(find)} OR ${PAYMENT_IDS.name} = ${queryText(find)}`]),
    ...(begin === undefined ? [] : [`WorkflowId STARTS_WITH ${queryText(begin)}`]),
    ...(runId === undefined ? [] : [`RunId = ${queryText(runId)}`]),
  ]
    .map((condition) => `(${condition})`)
    .join(" AND ");
};
