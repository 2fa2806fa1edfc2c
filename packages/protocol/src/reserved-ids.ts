import { notifierId } from "./notifications.ts";
import { pauseId } from "./pause.ts";
import { batchId } from "./payout-batch.ts";
import { instructionIdFor } from "./retry-instruction.ts";
import { settlementId } from "./settlement.ts";
import { signInLeaseId, trackerId } from "./workflow-types.ts";

/** What the ids of one kind begin with, up to the first slash. */
const beginOf = (id: string): string => id.slice(0, id.indexOf("/") + 1);

/** The begins of the ids of batches and their chunks, pauses, settlements, retry instructions, trackers, leases, notifiers. */
const RESERVED: ReadonlyArray<string> = [
  batchId(""),
  pauseId(""),
  settlementId("", ""),
  instructionIdFor("", ""),
  trackerId(""),
  signInLeaseId("", 0),
  notifierId(""),
].map(beginOf);

/**
 * Check whether a workflow id is one that only this project gives: a run of a user under it would be taken
 * for a pause, say, or for what a person found out.
 *
 * @param workflowId any.
 * @returns what such ids begin with, or undefined where it is free.
 */
export const reservedBegin = (workflowId: string): string | undefined =>
  RESERVED.find((begin) => workflowId.startsWith(begin));
