import { type AccountLimits, type Limits, limitsId, limitsOf } from "../model/limits.ts";
import type { JsonObject } from "../model/row.ts";
import type { Actor, Decision, NewDecision } from "./ledger.ts";
import { readDecision, selectDecisions } from "./log.ts";
import type { Store } from "./store.ts";
import { query } from "./table.ts";

/** Limits of accounts. They follow from the decisions about them, and every send obeys them, whichever worker makes it. */
export const limitMethods = (store: Store) => {
  /** Records a decision unless it is refused: alone, so that each send sees it or is before it. */
  const record = (
    kind: "limits" | "approve",
    account: string,
    value: JsonObject,
    actor: Actor,
    isRefused: (before: ReadonlyArray<Decision>, next: NewDecision) => boolean = () => false,
  ): Promise<boolean> => {
    const workflowId = limitsId(account);
    const decision = { ...actor, account, workflowId, step: null, question: null, kind, value };
    return store.logged(null, workflowId, [selectDecisions(workflowId)], ([lines = []], log) => {
      const before = lines.map((line) => readDecision(line, store.seal));
      const isRecorded = !isRefused(before, decision);
      if (isRecorded) log.decision(decision);
      return { value: isRecorded, writes: [] };
    });
  };
  const limits = async (account: string): Promise<AccountLimits> => {
    const lines = await store.find(selectDecisions(limitsId(account)));
    return limitsOf(lines.map((line) => readDecision(line, store.seal)));
  };
  return {
    /** Returns the limits of an account, with a loosening that waits for a second person. */
    limits,
    /** Returns the accounts about whose limits something was ever decided. */
    limitedAccounts: async (): Promise<ReadonlyArray<string>> => {
      const found = await store.find(
        query("SELECT DISTINCT account FROM log WHERE kind = 'limits' ORDER BY account"),
      );
      return found.map((row) => String(row["account"]));
    },
    /**
     * Sets the limits of an account: a first value or a tighter one applies at once. Looser ones wait in `pending` for
     * `approveLimits`, all of them, and replace others that wait.
     *
     * @returns the limits as they are now.
     */
    setLimits: async (account: string, given: Limits, actor: Actor): Promise<AccountLimits> => {
      await record("limits", account, given, actor);
      return limits(account);
    },
    /**
     * Approves the limits that wait under a sequence.
     *
     * @returns the limits as they are now; undefined if none wait under it, or the same person has set them: then nothing
     *   was recorded.
     */
    approveLimits: async (
      account: string,
      sequence: number,
      actor: Actor,
    ): Promise<AccountLimits | undefined> => {
      const isRefused = (before: ReadonlyArray<Decision>, next: NewDecision) => {
        const { pending } = limitsOf(before);
        const after = limitsOf([...before, { ...next, sequence: Number.MAX_SAFE_INTEGER, at: 0 }]);
        return pending === undefined || after.pending !== undefined;
      };
      const isRecorded = await record("approve", account, { sequence }, actor, isRefused);
      return isRecorded ? limits(account) : undefined;
    },
  };
};
