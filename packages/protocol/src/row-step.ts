const CHILD = ":";

/** Names a step of a run: which workflow, and which of its steps. */
export interface RunStep {
  readonly workflowId: string;
  /** No colon in it. */
  readonly step: string;
}

/** Returns the step of a row: rows are kept under the root workflow id, and those of a child name it. */
export const rowStep = (rootId: string, { step, workflowId }: RunStep): string =>
  workflowId === rootId ? step : `${workflowId}${CHILD}${step}`;

/** Returns the workflow and the step that a row belongs to: the one to be notified. */
export const runStep = (row: RunStep): RunStep => {
  const at = row.step.lastIndexOf(CHILD);
  return at < 0
    ? { workflowId: row.workflowId, step: row.step }
    : { workflowId: row.step.slice(0, at), step: row.step.slice(at + CHILD.length) };
};
