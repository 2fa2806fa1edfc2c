import { quoted } from "@durable-payments/activities/search-attributes";

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
  /** Their workflow id, or one of the keys and ids by which they can be found. */
  readonly find?: string | undefined;
}

/** What a run can be asked for. */
export type Standing = "failed" | "running" | "waiting" | "attention" | "inDoubt";

/** Stages at which a run waits for a person. */
export const ASKING_STAGES: ReadonlyArray<string> = ["needsAttention", "awaitApproval"];

/** What the names of the steps begin with that wait for the service or for money. */
export const WAITING_STAGE = "await";

const RUNNING = 'ExecutionStatus = "Running"';
/** A run that goes on has a close time in the far future, to some databases. */
const ENDED = 'ExecutionStatus != "Running"';
const ASKING = `PaymentStage IN (${ASKING_STAGES.map(quoted).join(", ")})`;

const STANDING: Readonly<Record<Standing, string>> = {
  failed: 'ExecutionStatus IN ("Failed", "TimedOut")',
  running: RUNNING,
  waiting: `${RUNNING} AND NOT ${ASKING} AND (PaymentStage STARTS_WITH ${quoted(WAITING_STAGE)} OR PaymentAwaits IS NOT NULL)`,
  attention: `${RUNNING} AND ${ASKING}`,
  inDoubt: `${ENDED} AND PaymentInDoubt IS NOT NULL`,
};

const foundBy = (id: string): string => {
  const isWorkflow = `WorkflowId = ${quoted(id)}`;
  // No id of the service has quotes, and not every database can look for them in a list.
  return /["\\]/.test(id) ? isWorkflow : `${isWorkflow} OR PaymentIds = ${quoted(id)}`;
};

/**
 * The query by which Temporal finds these runs. Without a type it finds those that have a
 * PaymentStage: whatever else runs in the namespace is no payment work.
 */
export const runQuery = ({ find, since, stage, standing, type }: RunFilter): string => {
  const time = since && quoted(since.toISOString());
  return [
    // A run that continues as new is one run.
    'ExecutionStatus != "ContinuedAsNew"',
    type === undefined ? "PaymentStage IS NOT NULL" : `WorkflowType = ${quoted(type)}`,
    ...(standing.length === 0 ? [] : [standing.map((name) => `(${STANDING[name]})`).join(" OR ")]),
    ...(time === undefined ? [] : [`StartTime >= ${time} OR (${ENDED} AND CloseTime >= ${time})`]),
    ...(stage === undefined ? [] : [`PaymentStage = ${quoted(stage)}`]),
    ...(find === undefined ? [] : [foundBy(find)]),
  ]
    .map((condition) => `(${condition})`)
    .join(" AND ");
};
