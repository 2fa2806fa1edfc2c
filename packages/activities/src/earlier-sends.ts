import { isInDoubt, type Journal, type RecordedSend } from "@durable-payments/journal";
import {
  AMENDED_MARK,
  isNotFound,
  keyOfStep,
  PAYMENT_IDS,
  runsOfIdQuery,
  textAt,
} from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import type { Client } from "@temporalio/client";
import { decodeArrayFromPayloads } from "@temporalio/common/lib/internal-non-workflow/index.js";
import type { temporal } from "@temporalio/proto";
import { canonicalJson } from "./canonical-json.ts";
import { hashPayload, textOf } from "./recorded-send.ts";
import { type RunExecution, RunRelations } from "./run-relation.ts";

/** What a step of a run is about to send. */
interface AboutToSend {
  readonly step: string;
  readonly operation: string;
  readonly request: object;
}

/** What earlier runs of a workflow id have sent under the name of a step. */
export interface EarlierSends {
  /** The run because of which nothing may be sent; left out where there is none. */
  readonly forbiddenBy?: {
    readonly runId: string;
    /** Whether it did the same as this run, but has sent another request; left out where it did something else. */
    readonly isOtherRequest?: true;
  };
  /**
   * Whether one of them may have sent what is to be sent now: then that is the result, where it is found. Unknown where
   * the journal would have forgotten it.
   */
  readonly sent: "perhaps" | "nothing" | "unknown";
}

/** Activities of runs that others of their workflow id came before. */
export interface EarlierSendActivities {
  /**
   * Finds out whether runs before have sent something under the name of a step, by the journal; where that has nothing
   * of it, by their histories.
   */
  readonly findEarlierSends: (send: AboutToSend) => Promise<EarlierSends>;
}

/** Most runs of a workflow id whose histories are read, the latest first. */
const MOST_HISTORIES = 20;

/** Two that are alike are one and the same: a beneficiary is paid many times. */
const MOVE_NO_MONEY: ReadonlySet<string> = new Set(["createBeneficiary", "createCardholder"]);

type EarlierSend = Pick<RecordedSend, "key" | "payloadHash" | "runId">;

type HistoryEvents = ReadonlyArray<temporal.api.history.v1.IHistoryEvent>;

/** Whether something may stand that a send has made. */
export const mayStand = (send: Pick<RecordedSend, "outcome">): boolean =>
  isInDoubt(send) || send.outcome === "carriedOut";

const readHistory = async (client: Client, run: RunExecution): Promise<HistoryEvents> => {
  try {
    const { events } = await client.workflow.getHandle(run.workflowId, run.runId).fetchHistory();
    return events ?? [];
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
};

/** The sends that have failed, and of which the failure says that they were not carried out. */
const notCarriedOutIn = async (
  { options: { loadedDataConverter } }: Client,
  events: HistoryEvents,
): Promise<ReadonlySet<string>> => {
  const found = new Set<string>();
  for (const { activityTaskFailedEventAttributes: failed } of events) {
    const of = failed?.failure?.applicationFailureInfo;
    if (!of) continue;
    const [detail] = await decodeArrayFromPayloads(loadedDataConverter, of.details?.payloads);
    if (textAt(detail, "carriedOut") !== "unknown") found.add(String(failed.scheduledEventId));
  }
  return found;
};

/**
 * The sends of a step in a history: of another execution without those that were not carried out. One whose answer was
 * lost may have been, and may have been found since.
 */
const sendsIn = async (
  client: Client,
  { runId, workflowId }: RunExecution,
  { operation, step }: AboutToSend,
  isOwn: boolean,
): Promise<ReadonlyArray<EarlierSend>> => {
  const events = await readHistory(client, { workflowId, runId });
  const notCarriedOut = isOwn ? new Set<string>() : await notCarriedOutIn(client, events);
  const sends: Array<EarlierSend> = [];
  for (const { activityTaskScheduledEventAttributes: scheduled, eventId } of events) {
    if (scheduled?.activityType?.name !== operation) continue;
    if (notCarriedOut.has(String(eventId))) continue;
    const [request, intent] = await decodeArrayFromPayloads(
      client.options.loadedDataConverter,
      scheduled.input?.payloads,
    );
    if (textAt(intent, "step") !== step) continue;
    const key = textOf(request, "unique_request_id");
    sends.push({
      runId,
      payloadHash: hashPayload(workflowId, request),
      ...(key !== undefined && { key }),
    });
  }
  return sends;
};

const runsOf = async (
  client: Client,
  { workflowId }: RunExecution,
  before: RunExecution | undefined,
): Promise<ReadonlyArray<string>> => {
  // Lists lag: the run of just now may be in none yet.
  const runs = new Set(before === undefined ? [] : [before.runId]);
  for await (const run of client.workflow.list({ query: runsOfIdQuery(workflowId) })) {
    if (run.workflowId === workflowId) runs.add(run.runId);
    if (runs.size >= MOST_HISTORIES) break;
  }
  return [...runs];
};

const readSendsInHistories = async (
  client: Client,
  relations: RunRelations,
  own: RunExecution,
  send: AboutToSend,
  recorded: ReadonlyArray<RecordedSend>,
): Promise<ReadonlyArray<EarlierSend>> => {
  const sends: Array<EarlierSend> = [];
  for (const runId of await runsOf(client, own, await relations.before(own))) {
    // The journal knows what became of its sends.
    if (recorded.some((known) => known.runId === runId)) continue;
    const run = { workflowId: own.workflowId, runId };
    const isOwn = (await relations.relate(own, run)) === "reset";
    sends.push(...(await sendsIn(client, run, send, isOwn)));
  }
  return sends;
};

/** The activities by which a run finds out what those before it have sent. */
export const makeEarlierSendActivities = (journal: Journal): EarlierSendActivities => ({
  findEarlierSends: async (send) => {
    const { client, info } = Context.current();
    const own = info.workflowExecution ?? { workflowId: "", runId: "" };
    const { workflowId } = own;
    const relations = new RunRelations(client);
    const recorded = await journal.find({ workflowId, step: send.step });
    for (const { runId } of recorded) {
      // It was permitted to send, and has asked a person where it was to send beside another request.
      if ((await relations.relate(own, { workflowId, runId })) === "reset")
        return { sent: "perhaps" };
    }
    const standing = recorded.filter(mayStand);
    const sends =
      standing.length > 0
        ? standing
        : await readSendsInHistories(client, relations, own, send, recorded);
    const hash = hashPayload(workflowId, send.request);
    const key = keyOfStep(workflowId, send.step);

    const inputOf = async (run: RunExecution): Promise<string | undefined> => {
      const { input } = (await relations.startOf(run)) ?? {};
      if (!input) return undefined;
      const { loadedDataConverter } = client.options;
      return canonicalJson(await decodeArrayFromPayloads(loadedDataConverter, input.payloads));
    };
    /** With the input of another run a request differs where people have amended it there, or the code has changed. */
    const isAmended = async (run: RunExecution, sent: EarlierSend): Promise<boolean> => {
      const input = await inputOf(run);
      if (input === undefined || input !== (await inputOf(own))) return false;
      if (sent.key !== key) return true;
      const { typedSearchAttributes } = await client.workflow
        .getHandle(workflowId, run.runId)
        .describe();
      return typedSearchAttributes.get(PAYMENT_IDS)?.includes(AMENDED_MARK) === true;
    };

    for (const sent of sends) {
      const run = { workflowId, runId: sent.runId };
      const isSameRequest = sent.payloadHash === hash;
      const relation = await relations.relate(own, run);
      if (relation === "other" && !(isSameRequest && MOVE_NO_MONEY.has(send.operation))) {
        return { sent: "perhaps", forbiddenBy: { runId: sent.runId } };
      }
      const isSame = relation === "reset" || isSameRequest || (await isAmended(run, sent));
      if (!isSame) {
        return { sent: "perhaps", forbiddenBy: { runId: sent.runId, isOtherRequest: true } };
      }
    }
    if (sends.length > 0) return { sent: "perhaps" };
    return { sent: journal.isOfProcess ? "unknown" : "nothing" };
  },
});
