import { Context } from "@temporalio/activity";

/** An id as it may stand in a visibility query. */
export const quoted = (id: string): string => `"${id.replaceAll(/["\\]/g, "")}"`;

const otherRuns = async (id: string): Promise<Array<string>> => {
  const { client, info } = Context.current();
  const runs: Array<string> = [];
  const found = client.workflow.list({ query: `PaymentIds = ${quoted(id)}` });
  for await (const { workflowId } of found) {
    if (workflowId !== info.workflowExecution?.workflowId) runs.push(workflowId);
  }
  return runs;
};

/** Which run, other than this one, owns each id or key: one that has it in its PaymentIds. */
export const findOwners = async (
  ids: ReadonlyArray<string>,
): Promise<Readonly<Record<string, string>>> => {
  const owners: Record<string, string> = {};
  for (const id of ids) {
    if (id === "") continue;
    const [owner] = await otherRuns(id);
    if (owner !== undefined) owners[id] = owner;
  }
  return owners;
};

/**
 * Other runs that bear a mark: they mean to make the like, and do not know yet what they made.
 * Ask for them before the owners: a run takes its mark back as it comes to own, and between the two
 * questions in the other order it would be neither.
 */
export const findRivals = otherRuns;
