/**
 * Outcomes of payouts at the service.
 *
 * A payout completes days after its write is done, perhaps after its run was cancelled, forgotten or lost. So what the
 * service shows of it is recorded in its write, by each part that sees it, and never depends on a run.
 */
import { standingOfRow, type PayoutOutcome } from "../model/standing.ts";
import { type RecordedWrite, readRecorded } from "./write-methods.ts";
import { selectDecisions } from "./log.ts";
import { decisionAbout, plainWord, wordsId } from "./word-methods.ts";
import { type EndedWait, waitEnder } from "./run-methods.ts";
import { refreshStatus } from "./run-status.ts";
import { type SEEN, WRITES } from "./schema.ts";
import type { Store } from "./store.ts";
import { query, type Query, type RowOf, type SqlRow } from "./table.ts";

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
 * Returns what changes in a write; undefined if nothing does. An outcome stays until another one is seen; a failure
 * after a completion came back.
 */
const changeOf = (
  row: RecordedWrite,
  { asks, isDecided = false, isUnlisted = false, outcome, problem, word }: SeenOfPayout,
): Partial<RowOf<typeof SEEN>> | undefined => {
  const { standing } = row;
  const wasPaid = standing === "completed" || standing === "returned";
  const is = outcome === "failed" && wasPaid ? "returned" : outcome;
  const isNew = is !== null && standingOfRow(row, null) === "made";
  const to = {
    problem,
    ...(problem === null && { word, wordAsks: asks && outcome === null, wordUnlisted: isUnlisted }),
    ...(isNew && { standing: is, decidedWord: isDecided ? plainWord(word) : null }),
  };
  const isSame = Object.entries(to).every(
    ([name, value]) => row[name as keyof typeof to] === value,
  );
  return isSame ? undefined : to;
};

/** Payouts at the service. */
export const payoutMethods = (store: Store) => {
  const { seal } = store;
  const end = waitEnder(store);
  const select = (account: string, payoutId: string): Query =>
    query(
      "SELECT * FROM writes WHERE account = $1 AND operation = 'createPayout' AND made_id = $2",
      account,
      payoutId,
    );
  const rowIn = ([found]: ReadonlyArray<SqlRow>) => found && readRecorded(found, seal);
  /** Reads the write that made a payout; undefined if the ledger has none. */
  const payout = async (account: string, payoutId: string): Promise<RecordedWrite | undefined> =>
    rowIn(await store.find(select(account, payoutId)));
  return {
    payout,
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
      const before = known ?? (await payout(account, payoutId));
      const ended = wait === undefined ? [] : end(wait);
      if (before === undefined || changeOf(before, seen) === undefined) {
        if (wait !== undefined) await store.save(wait.workflowId, ended);
        return;
      }
      const { ownerId, workflowId } = before;
      // Its root only asks.
      const ids = [...new Set([workflowId, ownerId])];
      const keys = [...new Set([...ids, wait?.workflowId ?? workflowId])];
      const looks = [select(account, payoutId), selectDecisions(wordsId(account))];
      await store.logged(keys, workflowId, looks, ([found = [], lines = []], log) => {
        const row = rowIn(found);
        const to = row && changeOf(row, seen);
        if (row === undefined || to === undefined) return { value: undefined, writes: ended };
        const said = decisionAbout(lines, seen.word, seal);
        // It was read before the word got another meaning: the next reading decides.
        if (seen.isDecided && said?.value["means"] !== seen.outcome)
          return { value: undefined, writes: ended };
        const of = { "workflow_id = ?": workflowId, "step = ?": row.step, "account = ?": account };
        const { standing } = to;
        const isOutcome = standing !== undefined && standing !== row.standing;
        if (isOutcome) {
          const details = { id: payoutId, word: seen.word };
          const who = seen.isDecided ? `as ${said?.by ?? ""} said of the word` : "the service";
          const entry = { who, what: `payout ${standing}`, details };
          log.entry(entry, row, row.runId, row.generation);
        }
        const all = { ...to, ...(isOutcome && { outcomeAt: log.now }) };
        return {
          value: undefined,
          writes: [
            store.update(WRITES, all, of),
            ...(isOutcome ? [refreshStatus(ids)] : []),
            ...ended,
          ],
        };
      });
    },
    /** Returns the payouts of an account whose outcome is not known yet, the longest unchanged first. */
    openPayouts: async (account: string, limit?: number) => {
      const found = await store.find(
        store.where(
          "SELECT * FROM writes",
          { "account = ?": account, "standing = 'made'": true },
          "ORDER BY changed_at, workflow_id, step",
          limit,
        ),
      );
      return found.map((row) => readRecorded(row, seal));
    },
  };
};
