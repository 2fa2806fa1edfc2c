import {
  idOf,
  type Journal,
  type KeyEcho,
  type ListName,
  type Made,
  type SendOutcome,
} from "@durable-payments/journal";
import { Context } from "@temporalio/activity";
import { intentOfPayout } from "./match-rows.ts";
import type { SentPayout } from "./match-sent.ts";

/** What was made longer ago than this and is not listed is hidden: the list does not lag, it lacks. */
const LONGEST_LAG_MS = 15 * 60_000;

/** What a list may lag, for each millisecond that it was seen to lag. */
const LAG_MARGIN = 1.5;

/** Outcomes that say nothing of whether a send was carried out. */
const IN_DOUBT: ReadonlySet<SendOutcome> = new Set(["begun", "unknown"]);

/** How far a list lags, as far as it was measured. */
interface MeasuredLag {
  /** How long something may be missing from the list, in milliseconds; 0 where no lag was seen. */
  readonly longestMs: number;
  /** How many that were made long ago are not listed. */
  readonly hidden: number;
  /** When the last one that is listed was answered: milliseconds since 1970. */
  readonly lastListed?: number | undefined;
}

/** What the journal says about a list with which a send without an answer is reconciled. */
export interface JournalEvidence {
  /** What the same step has made, in whatever run, by the service's own answers. */
  readonly ownIds: ReadonlySet<string>;
  /** Who made something by another send, where an answer said so; it is no other send's. */
  readonly ownerOf: (id: string) => string | undefined;
  readonly echo: KeyEcho;
  /** The ids of all that was made, by the service's own answers. */
  readonly madeIds: ReadonlySet<string>;
  /** Compares what a complete reading showed with what was made, and keeps the lag that it shows. */
  readonly measureLag: (
    listed: ReadonlySet<unknown>,
    reading: { readonly readAt: number; readonly since: number },
  ) => Promise<MeasuredLag>;
}

/** What other sends of the like have made, or may have made. */
export interface OtherSends {
  /** Who made it, by the id of what was made. */
  readonly owners: ReadonlyMap<string, string>;
  /** Who may have made it: it is not known what became of what they have sent. */
  readonly inDoubt: ReadonlyArray<string>;
}

/**
 * Read from the journal the other sends of payouts that a list may show like this one. Temporal knows of the runs
 * that mean to make the like, but not of those that a database put back to before them has forgotten.
 *
 * @param payout what was sent.
 * @param since when the first of them may have begun: milliseconds since 1970.
 * @throws JournalUnavailable
 */
export const readOtherSends = async (
  journal: Journal,
  payout: SentPayout,
  { since, step }: { readonly since: number; readonly step: string },
): Promise<OtherSends> => {
  const { workflowId } = Context.current().info.workflowExecution ?? {};
  const intent = intentOfPayout(payout);
  const owners = new Map<string, string>();
  const latest = new Map<string, { readonly by: string; readonly outcome: SendOutcome }>();
  for (const send of await journal.sendsTo(payout.beneficiary_id, since)) {
    const { amount = "", currency = "", operation, outcome } = send;
    const sent = { beneficiary_id: payout.beneficiary_id, amount, currency };
    if (operation !== "createPayout" || intentOfPayout(sent) !== intent) continue;
    const isOfRun = send.workflowId === workflowId;
    if (isOfRun && send.step === step) continue;
    const by = isOfRun ? send.step : send.workflowId;
    const id = outcome === "carriedOut" ? idOf(send) : undefined;
    if (id !== undefined) owners.set(id, by);
    latest.set(JSON.stringify([send.workflowId, send.step]), { by, outcome });
  }
  const inDoubt = [...latest.values()].filter(({ outcome }) => IN_DOUBT.has(outcome));
  return { owners, inDoubt: inDoubt.map(({ by }) => by) };
};

/** Of which step the journal is read. */
export interface MadeQuery {
  readonly operation: string;
  readonly step: string;
  /** What was made before does not matter: milliseconds since 1970. */
  readonly from: number;
}

/** Of which list and step the journal is read. */
export interface EvidenceQuery extends MadeQuery {
  readonly operation: "createPayout" | "createCardholder";
  readonly list: ListName;
}

/**
 * Read from the journal what is known to be made, and by whom.
 *
 * @throws JournalUnavailable
 */
export const readMade = async (
  journal: Journal,
  { from, operation, step }: MadeQuery,
): Promise<
  Pick<JournalEvidence, "madeIds" | "ownerOf" | "ownIds"> & { readonly made: ReadonlyArray<Made> }
> => {
  const workflowId = Context.current().info.workflowExecution?.workflowId ?? "";
  const [sends, made] = await Promise.all([
    journal.find({ workflowId }),
    journal.madeSince(operation, from),
  ]);
  // What was made before was undone before this send, so that it is not what this one made.
  const undoneBefore = Math.max(
    0,
    ...sends.filter((send) => send.step === step && send.isUndone).map(({ number }) => number),
  );
  const idsOf = (isOwn: boolean) =>
    sends
      .filter(
        (send) =>
          send.operation === operation &&
          (send.step === step && send.number >= undoneBefore) === isOwn,
      )
      .flatMap((send) => idOf(send) ?? []);
  const ownIds = new Set(idsOf(true));
  const otherIds = new Set(idsOf(false));
  const madeIds = new Set(made.map(({ id }) => id));
  return {
    ownIds,
    madeIds,
    made,
    ownerOf: (id) => {
      if (otherIds.has(id)) return "another send of this run";
      return madeIds.has(id) && !ownIds.has(id) ? "another send, by its answer" : undefined;
    },
  };
};

/**
 * Read from the journal what is known of a list.
 *
 * @throws JournalUnavailable
 */
export const readJournal = async (
  journal: Journal,
  { from, list, operation, step }: EvidenceQuery,
): Promise<JournalEvidence> => {
  const { log } = Context.current();
  const [{ made, ...known }, echo, longestLag] = await Promise.all([
    readMade(journal, { operation, step, from }),
    journal.keyEcho(operation),
    journal.listLag(list),
  ]);
  return {
    ...known,
    echo,
    measureLag: async (listed, { readAt, since }) => {
      const listedAt = made.filter(({ id }) => listed.has(id)).map(({ answeredAt }) => answeredAt);
      // A cardholder may be removed again: one who is missing while a later one is listed was.
      const removedBefore = list === "listCardholders" ? Math.max(0, ...listedAt) : 0;
      const missing = made
        .filter(({ answeredAt, id }) => answeredAt >= since && !listed.has(id))
        .filter(({ answeredAt }) => answeredAt >= removedBefore)
        .map(({ answeredAt }) => readAt - answeredAt)
        .filter((lagMs) => lagMs > 0);
      const seen = Math.max(0, ...missing.filter((lagMs) => lagMs <= LONGEST_LAG_MS));
      if (seen > longestLag) {
        await journal.noteListLag(list, seen);
        log.warn(`${list} was seen to lag longer than ever before`, { list, lagMs: seen });
      }
      return {
        longestMs: Math.max(longestLag, seen) * LAG_MARGIN,
        hidden: missing.filter((lagMs) => lagMs > LONGEST_LAG_MS).length,
        ...(listedAt.length > 0 && { lastListed: Math.max(...listedAt) }),
      };
    },
  };
};
