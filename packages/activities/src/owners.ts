import { PAYMENT_ACCOUNT, PAYMENT_IDS, queryText } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";

const otherRuns = async (query: string): Promise<Array<string>> => {
  const { client, info } = Context.current();
  const runs: Array<string> = [];
  for await (const { workflowId } of client.workflow.list({ query })) {
    if (workflowId !== info.workflowExecution?.workflowId) runs.push(workflowId);
  }
  return runs;
};

const bears = (claim: string): string => `${PAYMENT_IDS.name} = ${queryText(claim)}`;

/**
 * Which run of the account, other than this one, makes each of these claims: one that has it in its
 * PaymentIds. Services number what they make by account: a run of another account that has the same
 * id owns something else, and must not explain what is listed here.
 */
export const findOwners = async (
  claims: ReadonlyArray<string>,
  account: string,
): Promise<Readonly<Record<string, string>>> => {
  const owners: Record<string, string> = {};
  for (const claim of claims) {
    const [owner] = await otherRuns(
      `${bears(claim)} AND ${PAYMENT_ACCOUNT.name} = ${queryText(account)}`,
    );
    if (owner !== undefined) owners[claim] = owner;
  }
  return owners;
};

/**
 * Other runs that bear a mark: they mean to make the like, and do not know yet what they made.
 * Ask for them before the owners: a run takes its mark back as it comes to own, and between the two
 * questions in the other order it would be neither.
 */
export const findConcurrentRuns = (mark: string): Promise<Array<string>> => otherRuns(bears(mark));
