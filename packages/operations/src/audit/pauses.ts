import {
  type AuditEntry,
  PAUSE_TYPE,
  pauseId,
  queryText,
  textAt,
} from "@durable-payments/protocol";
import type { Temporal } from "../connection/temporal.ts";
import { readCloseEvent } from "../history/close-event.ts";
import type { HistoryActivity } from "../history/run-history.ts";

/** The activity by which a run waits for the end of a pause. */
const AWAIT_RESUME = "awaitResume";

/** When a run was held back by a pause of all sends. */
interface Held {
  readonly since: string;
  readonly until: string | undefined;
}

/** When a run was held back, by its activities. */
export const heldBy = (activities: ReadonlyArray<HistoryActivity>): ReadonlyArray<Held> =>
  activities.flatMap(({ failure, since, type, until }) =>
    type === AWAIT_RESUME || failure === "Paused" ? [{ since, until }] : [],
  );

/** Who paused all sends while a run was held back, and who resumed them, and why. */
export const pauseEntries = async (
  temporal: Temporal,
  held: ReadonlyArray<Held>,
): Promise<ReadonlyArray<AuditEntry>> => {
  if (held.length === 0) return [];
  const { client, settings } = temporal;
  const entries: Array<AuditEntry> = [];
  const query = `WorkflowId = ${queryText(pauseId(settings.taskQueue))} AND WorkflowType = ${queryText(PAUSE_TYPE)}`;
  for await (const pause of client.workflow.list({ query })) {
    const began = pause.startTime.toISOString();
    const ended = pause.closeTime?.toISOString();
    const hasHeld = held.some(
      ({ since, until }) =>
        (ended === undefined || since <= ended) && (until === undefined || began <= until),
    );
    if (!hasHeld) continue;
    const [who = "unknown", why = ""] = ["by", "why"].map((name) => textAt(pause.memo, name));
    entries.push({ at: began, who, step: "all sends", what: "paused", detail: { why } });
    if (ended === undefined) continue;
    const last = await readCloseEvent(temporal, pause);
    const reason = last?.workflowExecutionTerminatedEventAttributes?.reason ?? "";
    const by = /^resumed by (.+)$/s.exec(reason)?.[1] ?? "unknown";
    entries.push({ at: ended, who: by, step: "all sends", what: "resumed" });
  }
  return entries;
};
