/**
 * Outcomes of payouts at the service.
 *
 * A payout completes days after its write is done, perhaps after its run was cancelled, forgotten or lost. So what the
 * service shows of it is recorded in its write, by each part that sees it, and never depends on a run.
 */
import { standingOfRow, type PayoutOutcome } from "../model/standing.ts";
import { readRecorded } from "./rows.ts";
import { refreshStatus } from "./run-status.ts";
import { WRITES } from "./schema.ts";
import type { Store } from "./store.ts";
import { query } from "./table.ts";

/** A payout as the service shows it. */
export interface SeenOfPayout {
  /** Its word for the status. */
  readonly word: string;
  /** Null while it is under way. */
  readonly outcome: PayoutOutcome | null;
  /** Whether a person has to say what the word means. */
  readonly asks: boolean;
  /** Why it could not be read; null if it was. */
  readonly problem: string | null;
}

/** Payouts at the service. */
export const payoutMethods = (store: Store) => {
  const { seal } = store;
  const selectMade = (account: string, payoutId: string) =>
    query(
      "SELECT * FROM writes WHERE account = $1 AND operation = 'createPayout' AND made_id = $2",
      account,
      payoutId,
    );
  return {
    /** Records what was seen of a payout; an outcome stays until another one is seen. A failure after a completion came back. */
    sawPayout: async (account: string, payoutId: string, seen: SeenOfPayout): Promise<void> => {
      const select = selectMade(account, payoutId);
      const changeOf = (found: Parameters<typeof readRecorded>[0]) => {
        const row = readRecorded(found, seal);
        const { outcomeAt, problem, standing, word, wordAsks } = row;
        const wasPaid = standing === "completed" || standing === "returned";
        const outcome = wasPaid && seen.outcome === "failed" ? "returned" : seen.outcome;
        const isNew = outcome !== null && outcome !== standing && standingOfRow(row) === "made";
        const to = {
          word: seen.problem === null ? seen.word : word,
          wordAsks: seen.problem === null ? seen.asks && outcome === null : wordAsks,
          problem: seen.problem,
        };
        const isSame =
          !isNew &&
          word === to.word &&
          (wordAsks ?? false) === (to.wordAsks ?? false) &&
          problem === to.problem;
        return { row, to, outcome: isNew ? outcome : null, outcomeAt, isSame };
      };
      const [first] = await store.find(select);
      if (first === undefined) return;
      const { isSame, row } = changeOf(first);
      if (isSame) return;
      const { ownerId, step, workflowId } = row;
      // Its root only asks.
      const keys = [...new Set([workflowId, ownerId])];
      await store.logged(keys, workflowId, [select], ([rows], log) => {
        const [found] = rows ?? [];
        if (found === undefined) return { value: undefined, writes: [] };
        const { outcome, row: now, to } = changeOf(found);
        const of = { "workflow_id = ?": workflowId, "step = ?": step, "account = ?": account };
        if (outcome === null) return { value: undefined, writes: [store.update(WRITES, to, of)] };
        const details = { id: payoutId, word: seen.word };
        const entry = { who: "the service", what: `payout ${outcome}`, details };
        log.entry(entry, now, now.runId, now.generation);
        const ended = { ...to, standing: outcome, outcomeAt: log.now };
        return {
          value: undefined,
          writes: [store.update(WRITES, ended, of), refreshStatus(keys)],
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
