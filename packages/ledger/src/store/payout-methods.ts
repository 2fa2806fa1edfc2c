/**
 * Outcomes of payouts at the service.
 *
 * A payout completes days after its write is done, perhaps after its run was cancelled, forgotten or lost. So what the
 * service shows of it is recorded in its write, by each part that sees it, and never depends on a run.
 */
import { LONGEST_MS, nextRead } from "../model/reading-schedule.ts";
import { standingAfter, standingOfRow, type PayoutOutcome } from "../model/standing.ts";
import { findWrites, type RecordedWrite, readRecorded, WITH_LAST_HASH } from "./write-rows.ts";
import { type LogWriter, logWriter, selectDecisions } from "./log.ts";
import { decisionAbout, plainWord, wordsId } from "./word-methods.ts";
import type { EndedWait } from "./ledger.ts";
import { payoutKey, waitEnder } from "./run-methods.ts";
import { refreshStatus } from "./run-status.ts";
import { type SEEN, WAITS, WRITES } from "./schema.ts";
import { MOST_KEYS, type Store, type Where } from "./store.ts";
import { query, type Query, type RowOf } from "./table.ts";
import { chunksOf } from "effect/Array";

/** A payout as the service shows it. */
export interface SeenOfPayout {
  /** Its word for the status. */
  readonly word: string;
  /** Null while it is under way. */
  readonly outcome: PayoutOutcome | null;
  /** Whether a person must say what the word means. */
  readonly asks: boolean;
  /** Whether no setting lists the word, and no decision says what it means. */
  readonly isUnlisted?: boolean;
  /** Whether the outcome is what a person has said that the word means, and no setting does. */
  readonly isDecided?: boolean;
  /** Why it could not be read; null if it was. */
  readonly problem: string | null;
}

/**
 * Returns what changes in a write; undefined if nothing does. An outcome stays until another one is seen, and the latest
 * counts: the log keeps each. A word without a meaning asks a person at once, if there was an outcome before: no later reading ends it.
 */
const changeOf = (
  row: RecordedWrite,
  { asks, isDecided = false, isUnlisted = false, outcome, problem, word }: SeenOfPayout,
): Partial<RowOf<typeof SEEN>> | undefined => {
  const isNew = outcome !== null && standingOfRow(row, null) === "made";
  const standing = standingAfter(row.standing, outcome);
  const to = {
    problem,
    ...(problem === null && {
      word,
      wordAsks: outcome === null && (asks || (isUnlisted && row.outcomeAt !== null)),
      wordUnlisted: isUnlisted,
    }),
    ...(isNew && { standing, decidedWord: isDecided ? plainWord(word) : null }),
  };
  const isSame = Object.entries(to).every(
    ([name, value]) => row[name as keyof typeof to] === value,
  );
  return isSame ? undefined : to;
};

/** A reading of a payout. */
export interface ReadPayout {
  /** Its write, as it was before the reading. */
  readonly row: RecordedWrite;
  /** Undefined if it could not be read: it is read again later. */
  readonly seen: SeenOfPayout | undefined;
  /** A wait for it that has ended. */
  readonly wait?: EndedWait | undefined;
}

/** Its root only asks. */
const idsOf = ({ ownerId, workflowId }: RecordedWrite) => [workflowId, ownerId];

/** Payouts of one transaction: each has up to four keys. */
const MOST_OF_ONE = Math.floor(MOST_KEYS / 4);

/** Payouts at the service. */
export const payoutMethods = (store: Store) => {
  const { seal } = store;
  const { now } = store.database.dialect;
  const end = waitEnder(store);
  const select = (account: string, ids: ReadonlyArray<string>): Query => {
    const of = { "account = ?": account, "operation = 'createPayout'": true };
    return store.where(WITH_LAST_HASH, { ...of, made_id: ids });
  };
  /** Returns the writes of those payouts that the ledger has. */
  const payouts = (account: string, ids: ReadonlyArray<string>) =>
    findWrites(store, select(account, ids));
  /** Reads the write that made a payout; undefined if the ledger has none. */
  const payout = async (account: string, payoutId: string): Promise<RecordedWrite | undefined> =>
    (await payouts(account, [payoutId]))[0];

  const read = (where: Where, order: string, limit: number | undefined) =>
    findWrites(store, store.where("SELECT * FROM writes", where, order, limit));

  const sawSome = async (
    account: string,
    read: ReadonlyArray<ReadPayout>,
    longestMs: number | undefined,
  ): Promise<void> => {
    const ended = read.flatMap(({ wait }) => (wait === undefined ? [] : end(wait)));
    const waiting = read.flatMap(({ wait }) => wait?.workflowId ?? []);
    const own = read.flatMap(({ row }) => [...idsOf(row), payoutKey(row.madeId ?? "")]);
    const keys = [...new Set([...own, ...waiting])];
    /** Waits that are not completed now, by a reader that ends here, are due. */
    const due = (kind: "payout" | "return", ids: ReadonlyArray<string>, now: number) => {
      const open = { "account = ?": account, "kind = ?": kind, "closed_at IS NULL": true };
      return ids.length === 0
        ? []
        : [store.update(WAITS, { readAfter: now }, { ...open, thing: ids })];
    };
    const madeIds = read.map(({ row }) => row.madeId ?? "");
    const looks = [select(account, madeIds), selectDecisions(wordsId(account))];
    await store.logged(keys, wordsId(account), looks, ([found = [], lines = []], log) => {
      const known = new Map(found.map((row) => [String(row["made_id"]), row]));
      const chains = new Map<string, LogWriter>();
      const concerned: Array<string> = [];
      const settled: Array<string> = [];
      /** A wait for a return is completed now, or reads for itself once nobody watches the payout. */
      const noted: Array<string> = [];
      const changes = read.flatMap(
        ({ row: { madeId, outcomeAt: was, readAfter: dueAt }, seen }) => {
          const before = known.get(madeId ?? "");
          if (before === undefined) return [];
          // A list may show it twice.
          known.delete(madeId ?? "");
          const row = readRecorded(before, seal);
          const to = seen && changeOf(row, seen);
          const said = seen && decisionAbout(lines, seen.word, seal);
          // It was read before the word got another meaning: the next reading decides.
          if (to && seen.isDecided && said?.value["means"] !== seen.outcome) return [];
          const { step, workflowId } = row;
          const is = { "workflow_id = ?": workflowId, "step = ?": step, "account = ?": account };
          // It began before the last outcome was recorded, and may be older: the next reading decides, at once.
          if (to && was !== row.outcomeAt)
            return [store.update(WRITES, { readAfter: log.now }, is)];
          const standing = to?.standing ?? row.standing;
          const isOutcome = standing !== row.standing;
          if (isOutcome) {
            const { generation, runId } = row;
            const chain =
              chains.get(workflowId) ??
              logWriter(workflowId, String(before["last_hash"] ?? ""), log.now, seal);
            chains.set(workflowId, chain);
            const details = { id: madeId, word: seen?.word ?? "" };
            const who = seen?.isDecided ? `as ${said?.by ?? ""} said of the word` : "the service";
            chain.entry({ who, what: `payout ${standing}`, details }, row, runId, generation);
            concerned.push(...idsOf(row));
            settled.push(madeId ?? "");
          }
          const outcomeAt = isOutcome ? log.now : row.outcomeAt;
          const of = { ...row, standing, outcomeAt };
          // A payout that could not be read is still to be read, also at the end of its watch, or for a hint after it.
          const missedAt = seen === undefined ? log.now + LONGEST_MS : null;
          const next = nextRead(of, log.now, longestMs, store.watchedForMs) ?? missedAt;
          // A hint that came during the reading is about something later.
          const readAfter = row.readAfter === dueAt ? next : row.readAfter;
          if (
            (isOutcome && standing !== "completed") ||
            (readAfter === null && row.readAfter !== null)
          )
            noted.push(madeId ?? "");
          if (to === undefined)
            return readAfter === row.readAfter ? [] : [store.update(WRITES, { readAfter }, is)];
          const isNewWord = to.word !== undefined && to.word !== row.word;
          const changed = { ...to, ...(isNewWord && { wordSince: log.now }), readAfter, outcomeAt };
          return [store.update(WRITES, changed, is)];
        },
      );
      return {
        value: undefined,
        writes: [
          ...[...chains.values()].flatMap(({ writes }) => writes),
          ...changes,
          ...due("payout", settled, log.now),
          ...due("return", noted, log.now),
          ...(concerned.length > 0 ? [refreshStatus(store, concerned)] : []),
          ...ended,
        ],
      };
    });
  };

  /**
   * Records what was seen of payouts, when each is read next, and the ends of waits for them: some sixty payouts of an
   * account in one transaction. Other waits for a payout that has an outcome are due from then on.
   *
   * @param longestMs the longest interval until the next reading; default: a minute.
   */
  const sawPayouts = async (
    account: string,
    read: ReadonlyArray<ReadPayout>,
    longestMs?: number,
  ): Promise<void> => {
    for (const some of chunksOf(read, MOST_OF_ONE)) await sawSome(account, some, longestMs);
  };

  return {
    payout,
    payouts,
    sawPayouts,
    /**
     * Records what was seen of a payout, and in the same transaction that a wait for it has ended.
     *
     * @param known its write, as it was just read.
     */
    sawPayout: async (
      account: string,
      payoutId: string,
      seen: SeenOfPayout,
      known?: RecordedWrite,
      wait?: EndedWait,
    ): Promise<void> => {
      const row = known ?? (await payout(account, payoutId));
      if (row !== undefined) await sawPayouts(account, [{ row, seen, wait }]);
      else if (wait !== undefined) await store.save(wait.workflowId, end(wait));
    },
    /**
     * Returns payouts of an account that are due to be read at the service, the longest due first.
     *
     * @param which the ones without an outcome, or those whose outcome is watched: they do not delay the others.
     */
    duePayouts: (
      account: string,
      limit: number,
      which: "open" | "watched" = "open",
    ): Promise<ReadonlyArray<RecordedWrite>> =>
      read(
        {
          "account = ?": account,
          [which === "open" ? "standing = 'made'" : "standing <> 'made'"]: true,
          [`read_after <= (SELECT ${now})`]: true,
        },
        "ORDER BY read_after",
        limit,
      ),
    /**
     * Makes a payout, or a cardholder that a run waits for, due to be read now: also a payout that nobody watches any more,
     * because only this may tell that money came back. An unknown id changes nothing.
     */
    readSoon: async (accounts: ReadonlyArray<string>, id: string): Promise<void> => {
      const isOpen = "thing = ? AND closed_at IS NULL AND read_after IS NOT NULL";
      for (const [table, where] of [
        ["writes", "operation = 'createPayout' AND made_id = ?"],
        ["waits", `${isOpen} AND kind = 'payout'`],
        ["waits", `${isOpen} AND kind = 'cardholder'`],
      ] as const) {
        const soon = store.where(`UPDATE ${table} SET read_after = ${now}`, {
          account: accounts,
          [where]: id,
        });
        await store.save(`hint ${id}`, [soon]);
      }
    },
    /** Returns how much of an account is read until it has an outcome, and how many waits there are for returns. */
    countRead: async (account: string) => {
      const count = (table: string, rest: string) =>
        query(`SELECT count(*) AS count FROM ${table} WHERE account = $1 AND ${rest}`, account);
      const found = await store.find(
        count("writes", "read_after IS NOT NULL AND standing = 'made'"),
        count("waits", "closed_at IS NULL AND read_after IS NOT NULL AND kind <> 'return'"),
        count("waits", "closed_at IS NULL AND kind = 'return'"),
      );
      const [payouts = 0, waits = 0, returns = 0] = found.map((row) => Number(row["count"]));
      return { open: payouts + waits, returns };
    },
    /** Returns the payouts of an account whose outcome is not known yet, the longest unchanged first. */
    openPayouts: (account: string, limit?: number): Promise<ReadonlyArray<RecordedWrite>> =>
      read(
        { "account = ?": account, "standing = 'made'": true },
        "ORDER BY changed_at, workflow_id, step",
        limit,
      ),
    /**
     * Returns payouts with a known id by the age of their writes in the ledger, the nearest to a time first: those since
     * `until` it or earlier, or `after` it.
     */
    payoutsNear: (account: string, side: "until" | "after", time: number, limit: number) =>
      read(
        {
          "account = ?": account,
          "operation = 'createPayout' AND made_id IS NOT NULL": true,
          [`created_at ${side === "until" ? "<=" : ">"} ?`]: time,
        },
        `ORDER BY created_at ${side === "until" ? "DESC" : "ASC"}`,
        limit,
      ),
  };
};
