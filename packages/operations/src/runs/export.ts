import { Client } from "@temporalio/client";
import { writeFile } from "node:fs/promises";
import type { Temporal } from "../connection/temporal.ts";
import { refused } from "../errors.ts";
import { describeRun } from "./state.ts";

/** A history that was written to a file. */
export interface ExportedHistory {
  readonly workflowId: string;
  readonly runId: string;
  readonly events: number;
  readonly file: string;
}

/** Histories hold account numbers and names. */
const OWNER_ONLY = 0o600;

const reasons: Readonly<Record<string, string>> = {
  EEXIST: "it exists already, and is left as it is",
  ENOENT: "there is no such folder",
  ENOTDIR: "there is no such folder",
  EACCES: "that is not allowed",
  EISDIR: "it is a folder",
};

const writeNew = async (file: string, text: string): Promise<void> => {
  try {
    await writeFile(file, text, { mode: OWNER_ONLY, flag: "wx" });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw refused(`Cannot write ${file}: ${reasons[code] ?? code}.`);
  }
};

/**
 * Write the history of a run to a new file, in the JSON of Temporal's command line and Web UI. Only its
 * owner can read the file: a history holds names and account numbers. Payloads that Temporal stores encrypted are
 * encrypted in the file, too.
 *
 * @param temporal the connection of `withTemporal`.
 * @param run its workflow id, and the run id where it is not the latest.
 * @param file path of a file that does not exist.
 * @returns which run was written, and how many events it has.
 * @throws NotFound where there is no such run; Refused where the file exists, or cannot be written.
 */
export const exportHistory = async (
  temporal: Temporal,
  run: { readonly workflowId: string; readonly runId: string | undefined },
  file: string,
): Promise<ExportedHistory> => {
  const { runId, workflowId } = await describeRun(temporal, run.workflowId, run.runId);
  const { connection, settings } = temporal;
  // What Temporal stores encrypted stays so in a file.
  const { workflow } = new Client({ connection, namespace: settings.namespace });
  const history = await workflow.getHandle(workflowId, runId).fetchHistory();
  // What a replay needs is loaded when it is used: it brings native code.
  const { writeHistory } = await import("@durable-payments/replay");
  await writeNew(file, `${writeHistory(history)}\n`);
  return { workflowId, runId, events: history.events?.length ?? 0, file };
};
