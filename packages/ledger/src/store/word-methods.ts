/**
 * Decisions about the service's words for the status of a payout.
 *
 * A wrong meaning reports a payout as paid that is not, so it must be correctable: each outcome that follows from a
 * decision names the word, and a decision about it takes the outcome back. The tracker then reads those payouts again,
 * under the meaning that holds now. A decision does not change what a setting lists.
 */
import type { PayoutOutcome, Standing } from "../model/standing.ts";
import type { Actor, Decision } from "./ledger.ts";
import { logWriter, onWhole, readDecision, selectDecisions } from "./log.ts";
import { readRecorded, WITH_LAST_HASH } from "./write-rows.ts";
import { refreshStatus } from "./run-status.ts";
import { WRITES } from "./schema.ts";
import type { Store } from "./store.ts";
import * as column from "./column.ts";
import { query, readFields, type RowOf, type Seal, type SqlRow } from "./table.ts";

/** Meaning of a word of the service for a payout. */
export type WordMeaning = PayoutOutcome | "open";

/** The workflow id whose log has the words of an account. */
export const wordsId = (account: string): string => `words/${account}`;

/** Returns a word as decisions name it. */
export const plainWord = (word: string): string => word.trim().toLowerCase();

/** A decision about a word, which no later one replaces. */
export interface DecidedWord {
  readonly account: string;
  readonly word: string;
  readonly means: WordMeaning;
  readonly by: string;
  readonly reason: string | null;
  /** Milliseconds since 1970 by the ledger's clock. */
  readonly at: number;
}

const USE = {
  /** The service's last word for their status. */
  word: column.textOrNull,
  /** The word whose decided meaning gave them their outcome. */
  decidedWord: column.textOrNull,
  standing: column.oneOf<Standing>(),
  currency: column.textOrNull,
  count: column.number,
  amount: column.text,
  /** One of their workflow ids. */
  example: column.text,
};

/** Payouts that a word concerns, of one status, standing and currency. `amount` is an exact decimal string. */
type UseOfWord = RowOf<typeof USE>;

/** Returns the current decision about a word, from the log of the account's words; undefined if there is no such decision. */
export const decisionAbout = (
  lines: ReadonlyArray<SqlRow>,
  word: string,
  seal: Seal,
): Decision | undefined =>
  lines
    .map((line) => readDecision(line, seal))
    .findLast(({ kind, value }) => kind === "word" && value["word"] === plainWord(word));

/** Decisions about words. */
export const wordMethods = (store: Store) => {
  const { database, seal } = store;
  /** Returns the current decisions about words, of one account or of all, oldest first. */
  const decidedWords = async (account?: string): Promise<ReadonlyArray<DecidedWord>> => {
    const found = await store.find(
      store.where(
        "SELECT * FROM log",
        { "kind = 'word'": true, "account = ?": account },
        "ORDER BY sequence",
      ),
    );
    const all = found.map((line) => {
      const { account, at, by, reason, value } = readDecision(line, seal);
      // Only `decideWord` writes them.
      return {
        account,
        by,
        reason,
        at,
        word: value["word"] as string,
        means: value["means"] as WordMeaning,
      };
    });
    return [...new Map(all.map((one) => [`${one.account} ${one.word}`, one])).values()];
  };
  return {
    decidedWords,
    /** Returns the meanings that people have given to statuses of the service, by the word in small letters. */
    words: async (account: string): Promise<ReadonlyMap<string, WordMeaning>> =>
      new Map((await decidedWords(account)).map(({ means, word }) => [word, means])),
    /**
     * Returns the payouts that a decision about a word concerns: those under way, or asked about, that show it, and those
     * whose outcome follows from an earlier decision. Its cost grows with the payouts under way, and those with the word.
     */
    useOfWord: async (account: string, word: string): Promise<ReadonlyArray<UseOfWord>> => {
      const is = plainWord(word);
      const { sum } = database.dialect;
      const select = (where: string, ...values: ReadonlyArray<string>) =>
        query(
          `SELECT word, decided_word, standing, currency, count(*) AS count, ${sum("amount")} AS amount, min(workflow_id) AS example FROM writes
           WHERE account = $1 AND ${where} GROUP BY word, decided_word, standing, currency ORDER BY standing, currency`,
          account,
          ...values,
        );
      const [decided, ...shown] = await Promise.all([
        store.find(select("decided_word = $2", is)),
        store.find(select("standing = 'made' AND word IS NOT NULL")),
        store.find(select("standing <> 'made' AND word_asks = 1")),
      ]);
      const showing = shown.flat().filter(({ word }) => plainWord(String(word)) === is);
      return [...showing, ...decided].map((row) => readFields(USE, row, seal));
    },
    /**
     * Records what a word of the service for the status of a payout means, from now on. If the
     * meaning changes, the payouts whose outcome followed from the earlier one are under way again, until they are read
     * again: all of them in this transaction, found by an index.
     */
    decideWord: async (account: string, word: string, means: WordMeaning, actor: Actor) => {
      const value = { word: plainWord(word), means };
      const of = { "account = ?": account, "decided_word = ?": value.word };
      const workflowId = wordsId(account);
      const looks = [selectDecisions(workflowId), store.where(WITH_LAST_HASH, of)];
      // Alone, so that no outcome is recorded in between under the earlier meaning.
      await store.logged(null, workflowId, looks, ([lines = [], found = []], log) => {
        const before = decisionAbout(lines, value.word, seal);
        log.decision({ ...onWhole(workflowId, account), ...actor, kind: "word", value });
        // Payouts with a word that had no meaning are read now.
        const due = ["standing = 'made' AND word_unlisted = 1", "word_asks = 1"].map((unlisted) =>
          store.update(
            WRITES,
            { readAfter: log.now },
            { "account = ?": account, [unlisted]: true },
          ),
        );
        if (before === undefined || before.value["means"] === means)
          return { value: undefined, writes: due };
        const rows = found.map((row) => ({ row: readRecorded(row, seal), hash: row["last_hash"] }));
        const logs = [...Map.groupBy(rows, ({ row }) => row.workflowId)].map(([id, some]) => {
          const chain = logWriter(id, String(some[0]?.hash ?? ""), log.now, seal);
          for (const { row } of some) {
            const details = { id: row.madeId, ...value, was: row.standing };
            const entry = { who: actor.by, what: "payout under way again", details };
            chain.entry(entry, row, row.runId, row.generation);
          }
          return chain.writes;
        });
        const again = {
          standing: "made",
          outcomeAt: null,
          decidedWord: null,
          readAfter: log.now,
        } as const;
        const ids = rows.flatMap(({ row }) => [row.workflowId, row.ownerId]);
        return {
          value: undefined,
          writes: [
            ...logs.flat(),
            ...due,
            store.update(WRITES, again, of),
            refreshStatus(store, ids),
          ],
        };
      });
    },
  };
};
