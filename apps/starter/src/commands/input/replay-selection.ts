import { badUsage } from "../../exit-codes.ts";
import type { ReplaySelection } from "@durable-payments/operations/replay";
import { readSince } from "./since.ts";

/** Which histories are to be replayed. */
export type Selection = ReplaySelection | { readonly from: "file"; readonly file: string };

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
 * @throws BadUsage unless it is exactly one of a run, a file and the failed runs
 */
export const selectionOf = ({
  failed,
  file,
  id,
  runId,
  since,
  type,
}: GivenSelection): Selection => {
  if ([id !== undefined, file !== undefined, failed].filter(Boolean).length !== 1) {
    throw badUsage("Name exactly one of the ID of a run, --file FILE and --failed.");
  }
  if (!failed && (since !== undefined || type !== undefined)) {
    throw badUsage("--since and --type belong to --failed.");
  }
  if (id === undefined && runId !== undefined)
    throw badUsage("--run-id belongs to the ID of a run.");
  if (id !== undefined) return { from: "run", workflowId: id, runId };
  if (file !== undefined) return { from: "file", file };
  return { from: "failed", since: since === undefined ? undefined : readSince(since), type };
};
