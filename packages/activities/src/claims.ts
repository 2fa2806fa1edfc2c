import { Context } from "@temporalio/activity";
import { PAYMENT_ACCOUNT, PAYMENT_IDS } from "./search-attributes.ts";

/** An id as it may stand in a visibility query. */
export const quoted = (id: string): string => `"${id.replaceAll(/["\\]/g, "")}"`;

const otherRuns = async (query: string): Promise<Array<string>> => {
  const { client, info } = Context.current();
  const runs: Array<string> = [];
  for await (const { workflowId } of client.workflow.list({ query })) {
    if (workflowId !== info.workflowExecution?.workflowId) runs.push(workflowId);
  }
  return runs;
};

const bears = (id: string): string => `${PAYMENT_IDS.name} = ${quoted(id)}`;

/**
 * Which run of the account, other than this one, owns each id or key: one that has it in its
 * PaymentIds. Services number what they make by account: a run of another account that has the same
 * id owns something else, and must not explain what is listed here.
 */
export const findOwners = async (
  ids: ReadonlyArray<string>,
  account: string,
): Promise<Readonly<Record<string, string>>> => {
  const owners: Record<string, string> = {};
  for (const id of ids) {
    if (id === "") continue;
    const [owner] = await otherRuns(
      `${bears(id)} AND ${PAYMENT_ACCOUNT.name} = ${quoted(account)}`,
    );
    if (owner !== undefined) owners[id] = owner;
  }
  return owners;
};

/**
 * Other runs that bear a mark: they mean to make the like, and do not know yet what they made.
 * Ask for them before the owners: a run takes its mark back as it comes to own, and between the two
 * questions in the other order it would be neither.
 */
export const findRivals = (mark: string): Promise<Array<string>> => otherRuns(bears(mark));
