import { badUsage } from "../../exit-codes.ts";
import type { ReplaySelection } from "@durable-payments/operations/replay";
import { readSince } from "./since.ts";

/** Which histories are to be replayed. */
export type Selection =
  | ReplaySelection
  | {
      readonly from: "file";
      readonly file: string;
      /** Of the run, where the history does not say it. */
      readonly workflowId: string | undefined;
    };

/** Which runs the command line names. */
export interface GivenSelection {
  readonly id: string | undefined;
  readonly runId: string | undefined;
  readonly file: string | undefined;
  readonly failed: boolean;
  readonly since: string | undefined;
  readonly type: string | undefined;
}

/**
 * Reads which histories are wanted.
 *
 * @throws BadUsage unless it is exactly one of a run, a file (of a run) and the failed runs
 */
export const selectionOf = ({
  failed,
  file,
  id,
  runId,
  since,
  type,
}: GivenSelection): Selection => {
  if (failed === (id !== undefined || file !== undefined)) {
    throw badUsage("Name exactly one of the ID of a run, --file FILE and --failed.");
  }
  if (!failed && (since !== undefined || type !== undefined)) {
    throw badUsage("--since and --type belong to --failed.");
  }
  if ((id === undefined || file !== undefined) && runId !== undefined)
    throw badUsage("--run-id belongs to the ID of a run.");
  if (file !== undefined) return { from: "file", file, workflowId: id };
  if (id !== undefined) return { from: "run", workflowId: id, runId };
  return { from: "failed", since: since === undefined ? undefined : readSince(since), type };
};
