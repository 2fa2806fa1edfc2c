/**
 * Follows the payouts of the ledger whose outcome is not known.
 *
 * A payout is followed, and not the wait for it. Its run may have been cancelled, terminated or lost with Temporal's
 * database, or may never have waited: the money moves all the same, and reports state the outcome. So a run that waits
 * for a payout is one more reader of the same look: the ledger records what was seen, and then the wait is completed.
 *
 * Nothing is kept here: the ledger says what is due, the longest due first, and each reading is a fact of its row. So a
 * million open payouts take no memory, and a tracker that dies loses nothing. The readers in due.ts and settled.ts
 * have a budget of requests.
 */
import { type Payout, readTime } from "@durable-payments/client/effect";
import type { ReadPayout, RecordedWrite } from "@durable-payments/ledger";
import { atOnce } from "@durable-payments/protocol";
import { Effect } from "effect";
import { zoneOf } from "../payout-status.ts";
import { retrievePayout, seenPayout, type SeenStatus } from "../wait-readings.ts";
import { PARALLEL, type Reader, type ReaderOptions } from "./reader.ts";

/** The longest interval of readings of a payout is not shorter. */
const LEAST_LONGEST_MS = 60_000;

/** A payout that was read; without `seen` it could not be. */
interface ReadOfPayout {
  readonly row: RecordedWrite;
  readonly seen?: SeenStatus | undefined;
  readonly problem?: string | undefined;
}

/** Follows the payouts of an account: records what is seen of them, and completes the waits for those with an outcome. */
export const follow = (
  { account, ledger }: Pick<ReaderOptions, "account" | "ledger">,
  { endSeen, readOne, settings, throwFault }: Reader,
) => {
  /** As they were counted last. */
  let waiting = { open: 0, returns: 0 };
  let perRequest = 1;
  let aheadMs: number | undefined;

  /** Records what was read of payouts, and completes the waits for those with an outcome. */
  const endPayouts = async (read: ReadonlyArray<ReadOfPayout>): Promise<void> => {
    const { perSecond } = await settings();
    const seen = read.map(({ problem, row, seen: of }): ReadPayout => {
      const refused = problem && { word: "", outcome: null, asks: false, problem };
      return { row, seen: of?.status ?? (refused || undefined) };
    });
    // Old payouts are read less often if there are more than the requests are enough for.
    const longestMs = Math.max(LEAST_LONGEST_MS, (waiting.open * 1_000) / (perSecond * perRequest));
    await ledger.sawPayouts(account, seen, longestMs);
    const ended = new Map(
      read.flatMap(({ row: { madeId }, seen: of }) =>
        madeId === null || of === undefined || of.seen.outcome === "open"
          ? []
          : [[madeId, of.seen] as const],
      ),
    );
    if (ended.size === 0) return;
    const waits = await ledger.waits({
      account,
      kind: "payout",
      isOpen: true,
      things: [...ended.keys()],
    });
    await endSeen(waits.map((wait) => ({ waits: [wait], seen: ended.get(wait.thing) })));
  };

  /** Returns what a payout shows, by its write. */
  const seerOf = async () => {
    const [{ assumptions }, words, { now }] = await Promise.all([
      settings(),
      ledger.words(account),
      ledger.state(),
    ]);
    return (row: RecordedWrite, payout: Payout): SeenStatus => {
      const created = readTime(payout.create_time, zoneOf(assumptions))?.earliest;
      if (created !== undefined) aheadMs = created - row.changedAt;
      const known = { payout_id: row.madeId ?? "", row, knownForMs: now - row.changedAt };
      return seenPayout(known, payout, assumptions, words);
    };
  };

  /**
   * Records those payouts of a list that are open in the ledger, or watched, and returns them. A list may be behind: it
   * changes no outcome of a watched payout, which is to be read alone.
   */
  const endListed = async (listed: ReadonlyArray<Payout>, which: "open" | "watched" = "open") => {
    if (listed.length === 0) return [];
    const shown = new Map(listed.map((payout) => [payout.payout_id, payout]));
    const [rows, see] = await Promise.all([ledger.payouts(account, [...shown.keys()]), seerOf()]);
    const found = rows.flatMap((row) => {
      const payout = shown.get(row.madeId ?? "");
      const isOpen = row.standing === "made";
      if (payout === undefined || row.readAfter === null || isOpen !== (which === "open"))
        return [];
      const seen = see(row, payout);
      return [{ row, seen, isRecorded: isOpen || seen.status.outcome === row.standing }];
    });
    const read = found.filter(({ isRecorded }) => isRecorded);
    if (read.length > 0) await endPayouts(read);
    return found;
  };

  /** Reads payouts one by one. A payout that cannot be read is read again later, and delays no other. */
  const readPayouts = async (rows: ReadonlyArray<RecordedWrite>): Promise<void> => {
    if (rows.length === 0) return;
    const [see, { now }] = await Promise.all([seerOf(), ledger.state()]);
    const read = await atOnce(
      rows,
      async (row) => {
        const payout_id = row.madeId ?? "";
        const one = await readOne(`payout ${payout_id}`, now - row.changedAt, (service) =>
          Effect.map(retrievePayout(service, payout_id), (payout) => see(row, payout)),
        );
        return { ...one, row, seen: one.value };
      },
      PARALLEL,
    );
    await endPayouts(read);
    throwFault(read);
  };

  return {
    settings,
    endListed,
    readPayouts,
    /** How much later the service says that a payout was created than the ledger that it was made, as was seen last. */
    aheadMs: () => aheadMs,
    /** Records how many open payouts a request reads. */
    paced: (payouts: number): void => {
      perRequest = payouts;
    },
    /** Payouts and waits that have no outcome yet. A wait for a return takes no request: the watch of its payout reads for it. */
    size: () => waiting.open + waiting.returns,
    /** Counts them: a scan of an index, some 50 ms for a million. */
    count: async (): Promise<void> => {
      waiting = await ledger.countRead(account);
    },
  };
};

/** The parts of the follower that the readers of payouts use. */
export type Followed = ReturnType<typeof follow>;
