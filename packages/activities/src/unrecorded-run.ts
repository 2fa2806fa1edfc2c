import type { Journal } from "@durable-payments/journal";
import { PAYMENT_ACCOUNT, PAYMENT_IDS, queryText, sendings } from "@durable-payments/protocol";
import type { Client } from "@temporalio/client";

/** The latest runs that are looked up in the journal: one that was lost lacks them. */
const LOOKED_UP = 20;

const isMade = (id: string): boolean => sendings.some(({ makes }) => id.startsWith(`${makes}:`));

/**
 * Find one of the latest runs of an account that has made something and of which the journal has nothing: then it has
 * lost its records, or is another one than the account's workers wrote.
 *
 * @param account hash of the account, as `accountHash` of the protocol makes it.
 * @returns the run's workflow id; undefined where the journal has all of them, or does not outlive its process.
 * @throws JournalUnavailable, or the error of a server without visibility.
 */
export const findUnrecordedRun = async (
  { workflow }: Client,
  journal: Pick<Journal, "find" | "isOfProcess">,
  account: string,
): Promise<string | undefined> => {
  if (journal.isOfProcess) return undefined;
  const query = `${PAYMENT_ACCOUNT.name} = ${queryText(account)} AND ${PAYMENT_IDS.name} IS NOT NULL`;
  let looked = 0;
  for await (const run of workflow.list({ query, pageSize: LOOKED_UP })) {
    const { typedSearchAttributes, workflowId } = run;
    const hasMade = (typedSearchAttributes.get(PAYMENT_IDS) ?? []).some(isMade);
    if (hasMade && (await journal.find({ workflowId })).length === 0) return workflowId;
    looked += 1;
    if (looked === LOOKED_UP) return undefined;
  }
  return undefined;
};
