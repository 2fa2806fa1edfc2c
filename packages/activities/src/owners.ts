import { KEYED_MARK, PAYMENT_ACCOUNT, PAYMENT_IDS, queryText } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import type { IntentMarks } from "./intent-marks.ts";

const otherRuns = async (
  query: string,
  isMeant: (paymentIds: ReadonlyArray<string>) => boolean = () => true,
): Promise<Array<string>> => {
  const { client, info } = Context.current();
  const runs: Array<string> = [];
  for await (const { typedSearchAttributes, workflowId } of client.workflow.list({ query })) {
    if (workflowId === info.workflowExecution?.workflowId) continue;
    if (isMeant(typedSearchAttributes?.get(PAYMENT_IDS) ?? [])) runs.push(workflowId);
  }
  return runs;
};

const hasId = (ownershipKey: string): string => `${PAYMENT_IDS.name} = ${queryText(ownershipKey)}`;

/**
 * Find which run of the account, other than this one, owns what each of these keys names: one that has it
 * in its PaymentIds. Services number what they make by account: a run of another account that has the same
 * id owns something else, and must not explain what is listed here.
 */
export const findOwners = async (
  ownershipKeys: ReadonlyArray<string>,
  account: string,
): Promise<Readonly<Record<string, string>>> => {
  const owners: Record<string, string> = {};
  for (const ownershipKey of ownershipKeys) {
    const [owner] = await otherRuns(
      `${hasId(ownershipKey)} AND ${PAYMENT_ACCOUNT.name} = ${queryText(account)}`,
    );
    if (owner !== undefined) owners[ownershipKey] = owner;
  }
  return owners;
};

/**
 * Find other runs that have a mark: they mean to make the same, and do not know yet what they made.
 * Ask for them before the owners: a run replaces its mark by what it owns, and between the two
 * queries in the other order it would be neither.
 */
export const findConcurrentRuns = (mark: string): Promise<Array<string>> => otherRuns(hasId(mark));

/**
 * Find other runs that have a mark, made with any secret or none; and those whose mark was made with a secret that is not
 * here: of these nobody can tell.
 */
export const findRunsKeyedAlike = async (
  mark: string,
  marks: IntentMarks,
): Promise<Array<string>> => {
  const runs = new Set<string>();
  for (const each of marks.all(mark)) {
    for (const run of await findConcurrentRuns(each)) runs.add(run);
  }
  const ofOthers = await otherRuns(hasId(KEYED_MARK), (ids) => !marks.isOfKnownKey(ids));
  return [...new Set([...runs, ...ofOthers])];
};
