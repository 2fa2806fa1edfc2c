import { idNameOf, idOf, type Journal, type RecordedSend } from "@durable-payments/journal";
import { Context } from "@temporalio/activity";
import { mayStand } from "./earlier-sends.ts";
import { RunRelations } from "./run-relation.ts";
import { isUnnamedStep } from "./send-intent.ts";

/**
 * A send of a workflow id that the journal has and a run's history has not: the history was put back to
 * an earlier state, or an earlier run of the id made it.
 */
export interface ForgottenSend {
  /** The step that sent it. */
  readonly step: string;
  /** The operation that was sent. */
  readonly operation: string;
  /** The `unique_request_id` that it carried, where it carried one. */
  readonly key?: string;
  /** Decimal string. */
  readonly amount?: string;
  /** Three-letter code (ISO 4217). */
  readonly currency?: string;
  /** Ids that its answer gave: payout_id, card_id, … */
  readonly ids: Readonly<Record<string, string>>;
  /** Of these the one of what it made; the others name what it was made for. */
  readonly made?: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly begunAt: number;
}

/** By step, the number of the latest send that a run knows of. */
export type KnownSends = Readonly<Record<string, number>>;

/** What a step sent without an answer, and the list showed or a person found. */
export interface FoundByStep {
  /** The step that sent it. */
  readonly step: string;
  /** The operation that was sent. */
  readonly operation: string;
  /** payout_id, card_id, … */
  readonly ids: Readonly<Record<string, string>>;
}

/** What a run reads from the journal, and writes into it. */
export interface JournalActivities {
  /**
   * Finds what runs of this workflow id have sent, may have been carried out and stands, and is not
   * known to this run. What runs have made that do something else is theirs, and this run does not answer for it.
   *
   * @returns the latest such send of each step.
   */
  readonly findForgottenSends: (known: KnownSends) => Promise<ReadonlyArray<ForgottenSend>>;
  /**
   * Whether the journal has it that a step has made this: by an answer, or as it was found. Whoever instructs a
   * run can say anything.
   */
  readonly hasMade: (made: FoundByStep) => Promise<boolean>;
  /**
   * Records what a step has sent after all, unless it is known to be what another one has sent: of
   * two that find the same at the same moment one has it.
   *
   * @returns the other's step, or the workflow id of its run; undefined where there is none.
   */
  readonly recordFound: (found: FoundByStep) => Promise<{ readonly owner?: string }>;
}

const madeBy = (send: RecordedSend): Pick<ForgottenSend, "made"> => {
  const [name, id] = [idNameOf(send.operation), idOf(send)];
  return name === undefined || id === undefined ? {} : { made: { [name]: id } };
};

/** What another run has made that this one only continues, say, is that one's: whether it was carried out is known. */
const leaveOutThoseOfOthers = async (latest: Map<string, RecordedSend>): Promise<void> => {
  const { client, info } = Context.current();
  const own = info.workflowExecution ?? { workflowId: "", runId: "" };
  const relations = new RunRelations(client);
  for (const [step, { outcome, runId, workflowId }] of latest) {
    if (outcome !== "carriedOut") continue;
    if ((await relations.relate(own, { workflowId, runId })) === "other") latest.delete(step);
  }
};

/** The activities by which a run compares what it knows with the journal. */
export const makeJournalActivities = (journal: Journal): JournalActivities => ({
  hasMade: async ({ ids, operation, step }) => {
    const { workflowId = "" } = Context.current().info.workflowExecution ?? {};
    const id = idOf({ ids, operation });
    const recorded = await journal.find({ workflowId, step });
    return (
      id !== undefined &&
      recorded.some(
        (send) =>
          send.operation === operation &&
          (send.outcome === "carriedOut" || send.outcome === "undone") &&
          idOf(send) === id,
      )
    );
  },

  recordFound: async (found) => {
    const { workflowId = "" } = Context.current().info.workflowExecution ?? {};
    const other = await journal.noteFound({ ...found, workflowId });
    if (other === undefined) return {};
    return { owner: other.workflowId === workflowId ? other.step : other.workflowId };
  },

  findForgottenSends: async (known) => {
    const { workflowId = "" } = Context.current().info.workflowExecution ?? {};
    const recorded = await journal.find({ workflowId });
    const forgotten = recorded.filter(
      (send) =>
        !isUnnamedStep(send.step) && send.number > (known[send.step] ?? 0) && mayStand(send),
    );
    const latest = new Map(forgotten.map((send) => [send.step, send]));
    await leaveOutThoseOfOthers(latest);
    return [...latest.values()].map((send) => {
      const { amount, begunAt, currency, ids, key, operation, step } = send;
      return {
        step,
        operation,
        begunAt,
        ...(key !== undefined && { key }),
        ...(amount !== undefined && { amount }),
        ...(currency !== undefined && { currency }),
        ids,
        ...madeBy(send),
      };
    });
  },
});
