import { badInput } from "../errors.ts";
import { readSince } from "../input/since.ts";

/** Which histories are to be replayed. */
export type Selection =
  | { readonly from: "run"; readonly workflowId: string; readonly runId: string | undefined }
  | { readonly from: "file"; readonly file: string }
  | {
      readonly from: "failed";
      readonly since: Date | undefined;
      readonly type: string | undefined;
    };

/** What the command line says about it. */
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
 * @throws BadInput unless it is exactly one of a run, a file and the failed runs
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
    throw badInput("Name exactly one of the ID of a run, --file FILE and --failed.");
  }
  if (!failed && (since !== undefined || type !== undefined)) {
    throw badInput("--since and --type belong to --failed.");
  }
  if (id === undefined && runId !== undefined)
    throw badInput("--run-id belongs to the ID of a run.");
  if (id !== undefined) return { from: "run", workflowId: id, runId };
  if (file !== undefined) return { from: "file", file };
  return { from: "failed", since: since === undefined ? undefined : readSince(since), type };
};
