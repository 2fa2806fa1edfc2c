import { isInDoubt, type Journal, type RecordedSend } from "@durable-payments/journal";
import { AMENDED_MARK, keyOfStep, PAYMENT_IDS } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import type { Client } from "@temporalio/client";
import { canonicalJson } from "./canonical-json.ts";
import { listRunsOf } from "./earlier-runs.ts";
import type { RunExecution } from "./read-history.ts";
import { decodePayloads } from "./readable-payloads.ts";
import { hashPayload } from "./recorded-send.ts";
import { RunRelations } from "./run-relation.ts";
import { readForgottenSends } from "./sends-in-history.ts";

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
    /** Whether it is known what became of it; left out where it is in doubt, and in answers of before. */
    readonly isKnown?: true;
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

/** Two that are alike are one and the same: a beneficiary is paid many times. */
const MOVE_NO_MONEY: ReadonlySet<string> = new Set(["createBeneficiary", "createCardholder"]);

/** Whether something may stand that a send has made. */
export const mayStand = (send: Pick<RecordedSend, "outcome">): boolean =>
  isInDoubt(send) || send.outcome === "carriedOut";

/**
 * Read the sends of a step that the journal does not have: of other executions without those of which nothing stands. One
 * whose answer was lost may have been carried out, and may have been found since.
 */
const readSendsInHistories = async (
  client: Client,
  relations: RunRelations,
  own: RunExecution,
  send: AboutToSend,
  recorded: ReadonlyArray<RecordedSend>,
): Promise<ReadonlyArray<RecordedSend>> => {
  const { workflowId } = own;
  const before = await relations.before(own);
  // Lists lag: the run of just now may be in none yet.
  const runIds = new Set([
    ...(before === undefined ? [] : [before.runId]),
    ...(await listRunsOf(client, workflowId)),
  ]);
  const runs = [...runIds].map((runId) => ({ workflowId, runId }));
  const sends: Array<RecordedSend> = [];
  for (const sent of await readForgottenSends(client, runs, send, recorded)) {
    const isOwn = (await relations.relate(own, { workflowId, runId: sent.runId })) === "reset";
    if (isOwn || mayStand(sent)) sends.push(sent);
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
      return canonicalJson(await decodePayloads(client, input));
    };
    /** With the input of another run a request differs where people have amended it there, or the code has changed. */
    const isAmended = async (run: RunExecution, sent: RecordedSend): Promise<boolean> => {
      const input = await inputOf(run);
      if (input === undefined || input !== (await inputOf(own))) return false;
      if (sent.key !== key) return true;
      const { typedSearchAttributes } = await client.workflow
        .getHandle(workflowId, run.runId)
        .describe();
      return typedSearchAttributes.get(PAYMENT_IDS)?.includes(AMENDED_MARK) === true;
    };

    const forbidden = (by: NonNullable<EarlierSends["forbiddenBy"]>): EarlierSends => ({
      sent: "perhaps",
      forbiddenBy: { ...by, ...(!sends.some(isInDoubt) && { isKnown: true }) },
    });
    for (const sent of sends) {
      const run = { workflowId, runId: sent.runId };
      const isSameRequest = sent.payloadHash === hash;
      const relation = await relations.relate(own, run);
      if (relation === "other" && !(isSameRequest && MOVE_NO_MONEY.has(send.operation))) {
        return forbidden({ runId: sent.runId });
      }
      const isSame = relation === "reset" || isSameRequest || (await isAmended(run, sent));
      if (!isSame) {
        return forbidden({ runId: sent.runId, isOtherRequest: true });
      }
    }
    if (sends.length > 0) return { sent: "perhaps" };
    return { sent: journal.isOfProcess ? "unknown" : "nothing" };
  },
});
