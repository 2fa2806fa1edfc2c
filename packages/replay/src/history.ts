import type { History } from "@temporalio/common/lib/proto-utils.js";
import proto from "@temporalio/proto";
import { createRequire } from "node:module";

export type { History } from "@temporalio/common/lib/proto-utils.js";

/** A run whose history is replayed. */
export interface RunToReplay {
  /** Its own: the ledger and the ids of children go by it. */
  readonly workflowId: string;
  readonly history: History;
}

/**
 * A file is not a history, or not that of the workflow id that it is given: replayed so, it would seem to differ. The
 * message says why, and repeats nothing of it.
 */
export class InvalidHistory extends Error {
  override readonly name = "InvalidHistory";
}

/**
 * protobufjs knows only the types of its own copy, and npm installs several copies of it beside
 * each other: then `historyFromJSON` of `@temporalio/common` fails with "type must be a Type". This
 * is the copy that `@temporalio/proto` made its types with. A `require` is typed as `any`.
 */
const { fromJson } = createRequire(import.meta.resolve("@temporalio/proto"))(
  "protobufjs/ext/protojson",
) as {
  readonly fromJson: (
    type: unknown,
    json: unknown,
    options: { readonly ignoreUnknownFields: boolean },
  ) => History;
};

const historyType = proto.temporal.api.history.v1.History;

const parsed = (json: unknown): History => {
  if (typeof json !== "object" || json === null || !("events" in json)) {
    throw new InvalidHistory("it is not a JSON object with the events of a run");
  }
  if (!Array.isArray(json.events)) throw new InvalidHistory("its `events` are not a list");
  try {
    // Fields that this version of the SDK does not know are left out.
    return fromJson(historyType, { events: json.events }, { ignoreUnknownFields: true });
  } catch {
    // The error repeats a value, which may be a name or an account number.
    throw new InvalidHistory("its events are not in Temporal's JSON");
  }
};

/** Reads a history as Temporal's command line and its Web UI write it. @throws InvalidHistory */
export const readHistory = (json: unknown): History => {
  const history = parsed(json);
  const events = history.events ?? [];
  if (!events[0]?.workflowExecutionStartedEventAttributes) {
    throw new InvalidHistory("it does not begin with the event WORKFLOW_EXECUTION_STARTED");
  }
  // The SDK would wait forever for the rest of a history with a gap.
  const at = events.findIndex(({ eventId }, index) => Number(eventId) !== index + 1);
  if (at !== -1) {
    throw new InvalidHistory(
      `its event ${at + 1} is missing: only a complete history can be replayed`,
    );
  }
  return history;
};

/** Returns the workflow id that a history says; undefined for one of an older server. */
const workflowIdOf = ({ events }: History): string | undefined =>
  events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId || undefined;

/**
 * Reads the run whose history Temporal's command line or its Web UI wrote.
 *
 * @param json content of the file, parsed.
 * @param workflowId for histories of older servers, which do not say it.
 * @returns what `replayHistories` takes.
 * @throws InvalidHistory if it is not a history, or not a whole one.
 * @throws InvalidHistory if its workflow id is not known, or is another one.
 */
export const readRun = (json: unknown, workflowId?: string): RunToReplay => {
  const history = readHistory(json);
  const named = workflowIdOf(history);
  const id = workflowId ?? named;
  if (id === undefined) {
    throw new InvalidHistory(
      "its history does not contain its workflow id, from which the ids of children are derived: pass the workflow id",
    );
  }
  if (named !== undefined && named !== id) {
    throw new InvalidHistory(`it is the history of the workflow id ${named}, not of ${id}`);
  }
  return { workflowId: id, history };
};

/** Whether the run of a history has begun to run: before that its code has decided nothing. */
export const hasBegun = ({ events }: History): boolean =>
  (events ?? []).some((event) => event.workflowTaskStartedEventAttributes);
