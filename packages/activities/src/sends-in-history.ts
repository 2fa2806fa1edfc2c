import { idOf, type RecordedSend, type SendOutcome } from "@durable-payments/journal";
import { sendingOf, textAt } from "@durable-payments/protocol";
import { isRecord } from "@durable-payments/api-core/values";
import type { Client } from "@temporalio/client";
import type { temporal } from "@temporalio/proto";
import { OTHER_ACCOUNT, UNKNOWN_ACCOUNT } from "./account-check.ts";
import { NEEDS_APPROVAL, PAUSED, RUN_CANCELLING, RUN_ENDED, WORKER_LOST } from "./failures.ts";
import {
  executionOf,
  type History,
  readHistory,
  type RunExecution,
  startIn,
} from "./read-history.ts";
import { decodePayloads } from "./readable-payloads.ts";
import { idsIn, recordedSend } from "./recorded-send.ts";
import { ALREADY_SENT, isSentAlready, type SendIntent, unnamedStep } from "./send-intent.ts";

type Event = temporal.api.history.v1.IHistoryEvent;

/** Failures that come before anything is sent, and without an error of the client. */
const BEFORE_IT_IS_SENT: ReadonlySet<string> = new Set([
  NEEDS_APPROVAL,
  OTHER_ACCOUNT,
  PAUSED,
  RUN_CANCELLING,
  RUN_ENDED,
  UNKNOWN_ACCOUNT,
]);

const isIntent = (value: unknown): value is SendIntent =>
  isRecord(value) && typeof value["step"] === "string" && typeof value["number"] === "number";

const timeOf = ({ eventTime }: Event): number =>
  Number(eventTime?.seconds ?? 0) * 1000 + Math.floor((eventTime?.nanos ?? 0) / 1e6);

/** By the id of the event that scheduled it, how an activity has ended. */
const endsOf = (history: History): ReadonlyMap<string, Event> =>
  new Map(
    history.flatMap((event) => {
      const { activityTaskCompletedEventAttributes, activityTaskFailedEventAttributes } = event;
      const ended = activityTaskCompletedEventAttributes ?? activityTaskFailedEventAttributes;
      return ended ? [[String(ended.scheduledEventId), event] as const] : [];
    }),
  );

/** What an activity has made known of its send. */
type Known = Partial<Omit<RecordedSend, "outcome">> & { readonly outcome: SendOutcome };

const knownBy = async (
  client: Client,
  send: Pick<RecordedSend, "operation" | "payloadHash">,
  end: Event | undefined,
): Promise<Known> => {
  const { activityTaskCompletedEventAttributes: completed } = end ?? {};
  if (completed) {
    const [answer] = await decodePayloads(client, completed.result);
    return { outcome: "carriedOut", ids: idsIn(send.operation, answer) };
  }
  const { details, type = "" } =
    end?.activityTaskFailedEventAttributes?.failure?.applicationFailureInfo ?? {};
  const [detail] = await decodePayloads(client, details);
  if (type === ALREADY_SENT && isSentAlready(detail)) {
    const { isSamePayload, otherInDoubt: _, isNoneCarriedOut: __, ...sent } = detail;
    return { ...sent, payloadHash: isSamePayload ? send.payloadHash : "" };
  }
  if (textAt(detail, "carriedOut") === "no" || BEFORE_IT_IS_SENT.has(type ?? "")) {
    return { outcome: "notCarriedOut" };
  }
  // It may be sent yet.
  return { outcome: end === undefined || type === WORKER_LOST ? "begun" : "unknown" };
};

/** The activities of a type, with what they were given. */
const scheduledIn = async function* (client: Client, history: History, type: string) {
  for (const event of history) {
    const { activityTaskScheduledEventAttributes: scheduled } = event;
    if (scheduled?.activityType?.name !== type) continue;
    const input = await decodePayloads(client, scheduled.input);
    yield { event, scheduled, input };
  }
};

/**
 * Read what a step has sent in a run, as the journal would have it: what nobody has reported may have been sent. What
 * the journal knew then of another run's sends is among it.
 */
const sendsIn = async (
  client: Client,
  run: RunExecution,
  history: History,
  { operation, step }: Pick<RecordedSend, "operation" | "step">,
): Promise<ReadonlyArray<RecordedSend>> => {
  const ends = endsOf(history);
  const sends: Array<RecordedSend> = [];
  for await (const { event, input, scheduled } of scheduledIn(client, history, operation)) {
    const activityId = scheduled.activityId ?? "";
    const [request, given] = input;
    const intent = isIntent(given) ? given : { step: unnamedStep(activityId), number: 1 };
    if (intent.step !== step) continue;
    const info = { activityId, workflowExecution: run };
    const { knownTo: _, ...send } = recordedSend(operation, request, info, intent);
    const end = ends.get(String(event.eventId));
    sends.push({
      ...send,
      begunAt: timeOf(event),
      ids: {},
      ...(await knownBy(client, send, end)),
    });
  }
  return sends;
};

/** Read the ids of what activities have undone of what an operation makes. */
const undoneIn = async (
  client: Client,
  history: History,
  operation: string,
): Promise<ReadonlyArray<string>> => {
  const { idField = "", undoneBy } = sendingOf(operation) ?? {};
  if (undoneBy === undefined) return [];
  const ends = endsOf(history);
  const ids: Array<string> = [];
  for await (const { event, input } of scheduledIn(client, history, undoneBy)) {
    const end = ends.get(String(event.eventId));
    const id = textAt(input[0], idField);
    if (end?.activityTaskCompletedEventAttributes && id !== undefined) ids.push(id);
  }
  return ids;
};

/**
 * Read what a step has sent in runs of its workflow id, and the journal does not have. A run whose history is gone
 * says nothing.
 *
 * @param recorded what the journal has of the step: it knows what became of these sends.
 */
export const readForgottenSends = async (
  client: Client,
  runs: ReadonlyArray<RunExecution>,
  step: Pick<RecordedSend, "operation" | "step">,
  recorded: ReadonlyArray<RecordedSend>,
): Promise<ReadonlyArray<RecordedSend>> => {
  const sends: Array<RecordedSend> = [];
  const undone = new Set<string>();
  const executions = new Map<string, string>();
  for (const run of runs) {
    const history = (await readHistory(client, run)) ?? [];
    executions.set(run.runId, executionOf(run, startIn(history)));
    sends.push(...(await sendsIn(client, run, history, step)));
    for (const id of await undoneIn(client, history, step.operation)) undone.add(id);
  }
  // The history of a run that a reset made begins with a copy of the one that was reset.
  const nameOf = ({ number, runId }: RecordedSend) => `${executions.get(runId) ?? runId} ${number}`;
  const known = new Set(recorded.map(nameOf));
  return sends
    .filter((send) => !known.has(nameOf(send)))
    .map((send) =>
      send.outcome === "carriedOut" && undone.has(idOf(send) ?? "")
        ? { ...send, outcome: "undone" }
        : send,
    );
};
