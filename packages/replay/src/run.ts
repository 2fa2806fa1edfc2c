import { type History, readHistory, workflowIdOf } from "./history.ts";

/** A run whose history is replayed. */
export interface RunToReplay {
  /** Its own: the ledger and the ids of children go by it. */
  readonly workflowId: string;
  readonly history: History;
}

/** A history comes with another workflow id than its own, or with none: replayed so, it would seem to differ. */
export class WrongWorkflowId extends Error {
  override readonly name = "WrongWorkflowId";
}

/**
 * Expect that a run has the workflow id that its history says, where it says one.
 *
 * @throws WrongWorkflowId
 */
export const expectOwnId = ({ history, workflowId }: RunToReplay): void => {
  const named = workflowIdOf(history);
  if (named !== undefined && named !== workflowId) {
    throw new WrongWorkflowId(
      `it is the history of the workflow id ${named}, not of ${workflowId}`,
    );
  }
};

/**
 * Read the run whose history Temporal's command line, its Web UI or `writeHistory` wrote.
 *
 * @param json what the file holds, parsed.
 * @param workflowId for histories of older servers, which do not say it.
 * @returns what `replayHistories` takes.
 * @throws InvalidHistory where it is no history, or not the whole of one.
 * @throws WrongWorkflowId where its workflow id is not known, or is another one.
 */
export const readRun = (json: unknown, workflowId?: string): RunToReplay => {
  const history = readHistory(json);
  const id = workflowId ?? workflowIdOf(history);
  if (id === undefined) {
    throw new WrongWorkflowId(
      "its history does not say its workflow id, from which the ids of children are derived, and none is given",
    );
  }
  const run = { workflowId: id, history };
  expectOwnId(run);
  return run;
};
