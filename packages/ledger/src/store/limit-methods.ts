import { type AccountLimits, type Limits, limitsId, limitsOf } from "../model/limits.ts";
import { isSamePerson } from "../model/person.ts";
import type { Actor, NewDecision } from "./ledger.ts";
import type { decisionMethods } from "./decision-methods.ts";
import type { Store } from "./store.ts";
import { query } from "./table.ts";

/** Limits of accounts. They follow from the decisions about them, and every send obeys them, whichever worker makes it. */
export const limitMethods = (
  store: Store,
  { decide, decisionsOf }: ReturnType<typeof decisionMethods>,
) => {
  const limits = async (account: string): Promise<AccountLimits> =>
    limitsOf(await decisionsOf(limitsId(account)));
  const record = async (
    account: string,
    actor: Actor,
    said: Pick<NewDecision, "kind" | "value">,
  ): Promise<AccountLimits> => {
    const workflowId = limitsId(account);
    await decide({ account, workflowId, step: null, question: null, ...actor, ...said });
    return limits(account);
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
    setLimits: (account: string, value: Limits, actor: Actor): Promise<AccountLimits> =>
      record(account, actor, { kind: "limits", value }),
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
      const { pending } = await limits(account);
      if (pending?.sequence !== sequence || isSamePerson(actor.by, pending.by)) return undefined;
      // What changes meanwhile makes it void: `limitsOf` says so.
      return record(account, actor, { kind: "approve", value: { sequence } });
    },
  };
};
