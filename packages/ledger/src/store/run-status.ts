/**
 * The status of a workflow id, kept in its run.
 *
 * A status is asked for a million runs at once, and it depends on every write, wait and decision of a run: it cannot be
 * computed when a list is read. So whatever changes it computes it again, in the same transaction, by this one statement.
 * Money comes first: the payments of a run decide, however the run ended in Temporal. So the text of an end does
 * not outlive the outcome that it describes. A user's own workflow has several payments: if it failed for another
 * reason, then it has failed, while an earlier payout is under way for days, and after that came back.
 */
import type { RunStatus } from "./schema.ts";
import type { Store } from "./store.ts";
import { listed, type Query } from "./table.ts";

/** Statuses of runs without an outcome: they change without a person's doing, or wait for one. */
export const OPEN_STATUSES: ReadonlySet<RunStatus> = new Set([
  "asking",
  "approval",
  "unknown",
  "waiting",
  "running",
  "missing",
]);

/** The payment for which a built-in workflow exists. Other workflows succeed if their run does. */
export const PURPOSES = { payout: "createPayout", onboardCardholder: "createCard" } as const;

const IS_PURPOSE = `(${Object.entries(PURPOSES)
  .map(([type, operation]) => `(runs.type = '${type}' AND operation = '${operation}')`)
  .join(" OR ")})`;

/** The step of that payment, for a run; null for a workflow of a user's own. */
export const PURPOSE = `CASE runs.type ${Object.entries(PURPOSES)
  .map(([type, operation]) => `WHEN '${type}' THEN '${operation}'`)
  .join(" ")} END`;

/** The run is of a built-in workflow. */
export const IS_BUILT_IN = `runs.type IN ${listed(Object.keys(PURPOSES))}`;

/** Type of the failure by which a run says that its payout was not paid. */
export const PAYOUT_FAILED = "PayoutFailed";

/** Type of the failure by which a run says that its payout is still under way. */
const PAYOUT_STILL_OPEN = "PayoutStillOpen";

/** The run has ended: until then, a run that has paid continues. */
const IS_OVER = "(end_state IS NOT NULL OR is_stopped = 1)";

/** Each account has a payment of its own under a key. */
const IS_OF_ACCOUNT = "(runs.account IS NULL OR account = runs.account)";

/** The write of a key belongs to the run that last asked for it, and to the run whose id is made of the key. */
const IS_OWN = `(owner_id = runs.workflow_id OR (workflow_id = runs.workflow_id AND ${IS_OF_ACCOUNT}))`;

/** The run is not one of a user's own workflow that failed for another reason than a payout. A stale end has no type. */
const IS_BY_MONEY = `(${IS_BUILT_IN} OR end_state IS NULL OR end_state NOT IN ('failed', 'timedOut', 'terminated')
  OR end_type IS NULL OR end_type IN ('${PAYOUT_FAILED}', '${PAYOUT_STILL_OPEN}'))`;

/** The status by the most important of its writes. Those of its children only ask; their money is their own. */
const BY_WRITE: ReadonlyArray<readonly [condition: string, status: RunStatus]> = [
  // The standing is that of the money: an approval of a further send leaves it unknown.
  ["standing = 'asking' AND coalesce(question_kind, 'outcome') = 'outcome'", "asking"],
  ["question_kind = 'approval'", "approval"],
  // A send that was under way when another run ended is that run's, until somebody looks at it.
  [
    "standing = 'unknown' AND (owner_id = runs.workflow_id OR state <> 'sending' OR doubt > 0)",
    "unknown",
  ],
  [`${IS_OWN} AND standing = 'returned' AND ${IS_BY_MONEY}`, "returned"],
  [`${IS_OWN} AND standing = 'made' AND ${IS_BY_MONEY}`, "waiting"],
  [`${IS_OWN} AND standing = 'completed' AND ${IS_OVER} AND ${IS_PURPOSE}`, "succeeded"],
  [`${IS_OWN} AND standing = 'failed' AND ${IS_OVER} AND ${IS_PURPOSE}`, "failed"],
];

const MOST_IMPORTANT = `(SELECT min(CASE ${BY_WRITE.map(([condition], at) => `WHEN ${condition} THEN ${at}`).join(" ")} END)
  FROM writes WHERE (workflow_id = runs.workflow_id AND ${IS_OWN})
  OR (owner_id = runs.workflow_id AND owner_id <> workflow_id)
  OR (root_id = runs.workflow_id AND root_id <> workflow_id))`;

const HAS_PAYMENT = `EXISTS (SELECT 1 FROM writes WHERE ${IS_OWN} AND amount IS NOT NULL)`;

const RESTORED = "(SELECT restored_at FROM meta)";

/**
 * A restored ledger may have forgotten what a run had sent. An open run is reconciled. A run that was open then, and has
 * ended without another write, is not: its outcome is unknown.
 */
const MAY_HAVE_SENT = `(is_stopped = 1 OR end_state <> 'missing') AND amount IS NOT NULL
  AND started_at < ${RESTORED} AND coalesce(ended_at, ${RESTORED}) >= ${RESTORED}`;

/**
 * A row of a file is recorded at its upload, and begins with its first run. A ledger that was restored since the
 * upload may lack an earlier start, and what the run has sent then: the row keeps the time of its upload.
 */
export const HAS_NOT_BEGUN = `(runs.run_id IS NULL AND coalesce(runs.started_at >= ${RESTORED}, 1 = 1))`;

/** The standing of the planned payment, as if it were a write. */
const PLANNED = `CASE WHEN ${HAS_PAYMENT} THEN NULL
  WHEN ${MAY_HAVE_SENT} THEN 'unknown'
  WHEN is_stopped = 1 OR end_state <> 'missing' THEN 'stopped' ELSE 'open' END`;

const STATUS = `CASE ${MOST_IMPORTANT} ${BY_WRITE.map(([, status], at) => `WHEN ${at} THEN '${status}'`).join(" ")}
  ELSE CASE
    WHEN ${PLANNED} = 'unknown' THEN 'unknown'
    WHEN is_stopped = 1 THEN 'ended'
    WHEN end_state = 'succeeded' AND ${IS_BUILT_IN} THEN 'failed'
    WHEN end_state <> 'missing' THEN end_state
    WHEN EXISTS (SELECT 1 FROM waits WHERE waits.workflow_id = runs.workflow_id AND closed_at IS NULL) THEN 'waiting'
    ELSE coalesce(end_state, 'running') END
  END`;

/** The end tells an outcome of its payout as it was then. The service, or the meaning of its word, says another one now. */
const IS_STALE = `end_type = '${PAYOUT_FAILED}'
  AND EXISTS (SELECT 1 FROM writes WHERE ${IS_OWN} AND standing IN ('made', 'completed'))
  AND NOT EXISTS (SELECT 1 FROM writes WHERE ${IS_OWN} AND standing IN ('failed', 'returned'))`;

/** `standingOfRow` of open writes. */
const OPEN_STANDING = `(SELECT CASE WHEN max(end_state) IS NULL THEN 'open' WHEN writes.state = 'sending' THEN 'unknown'
  WHEN writes.changed_at < ${RESTORED} AND max(ended_at) >= ${RESTORED} THEN 'unknown'
  WHEN max(end_state) = 'missing' THEN 'open' ELSE 'stopped' END FROM runs WHERE runs.workflow_id = writes.owner_id)`;

/** Whether the run of a wait has ended: a lost run may begin again. */
export const HAS_ENDED = `EXISTS (SELECT 1 FROM runs WHERE runs.workflow_id = waits.workflow_id AND end_state <> 'missing')`;

/**
 * Returns the statement that computes the status of some runs again, after a change of the facts behind it.
 *
 * @param only the statuses that the change can change.
 */
export const refreshStatus = (
  store: Store,
  ids: ReadonlyArray<string>,
  only: ReadonlyArray<RunStatus> = [],
): Query =>
  store.where(
    `UPDATE runs SET status = ${STATUS}, planned = ${PLANNED}, end_type = CASE WHEN ${IS_STALE} THEN NULL ELSE end_type END,
     end_reason = CASE WHEN ${IS_STALE} THEN NULL ELSE end_reason END`,
    { workflow_id: ids, [`status IN ${listed(only)}`]: only.length > 0 },
  );

/** Returns the statements that compute the standings, open waits and status of some runs again, after they ended or began again. */
export const refreshEnds = (store: Store, ids: ReadonlyArray<string>): ReadonlyArray<Query> => [
  store.where(`UPDATE writes SET standing = ${OPEN_STANDING}`, {
    owner_id: ids,
    "state IN ('ready', 'sending') AND doubt = 0 AND question_kind IS NULL": true,
  }),
  // Nobody may check it any more.
  store.where("UPDATE writes SET standing = 'unknown'", {
    owner_id: ids,
    [`state = 'unknown' AND standing = 'open' AND EXISTS (SELECT 1 FROM runs WHERE runs.workflow_id = writes.owner_id AND ${IS_OVER})`]: true,
  }),
  store.where(`UPDATE waits SET is_left = CASE WHEN ${HAS_ENDED} THEN 1 ELSE 0 END`, {
    workflow_id: ids,
    "closed_at IS NULL": true,
  }),
  refreshStatus(store, ids),
];
