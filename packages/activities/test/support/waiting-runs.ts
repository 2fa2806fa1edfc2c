import { PAYMENT_AWAITS } from "@durable-payments/protocol";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { TypedSearchAttributes } from "@temporalio/common";

/** A signal that a run was sent. */
interface Sent {
  readonly runId: string;
  readonly signal: string;
  readonly content: unknown;
}

/** A Temporal client that knows runs that wait, and keeps their signals. */
export interface WaitingClient {
  readonly client: Client;
  /** Queries by which it was asked who waits. */
  readonly queries: ReadonlyArray<string>;
  readonly sent: ReadonlyArray<Sent>;
}

/**
 * A client whose visibility shows runs that wait for this, since `since`; a run is called like what
 * it waits for. What it shows does not change when a run was signalled, as visibility lags.
 *
 * @param gone what is waited for by runs that have ended by now.
 * @param refusing what is waited for by runs that cannot be signalled.
 * @param unlisted why the runs cannot be listed.
 */
export const clientOf = (
  awaited: ReadonlyArray<string>,
  {
    gone = [],
    refusing = [],
    since = new Date(),
    unlisted,
  }: {
    gone?: ReadonlyArray<string>;
    refusing?: ReadonlyArray<string>;
    since?: Date;
    unlisted?: string;
  } = {},
): WaitingClient => {
  const queries: Array<string> = [];
  const sent: Array<Sent> = [];
  const list = async function* ({ query }: { readonly query: string }) {
    queries.push(query);
    if (unlisted !== undefined) throw new Error(unlisted);
    for (const [i, id] of awaited.entries()) {
      yield {
        workflowId: id,
        runId: `${i}:${id}`,
        startTime: since,
        typedSearchAttributes: new TypedSearchAttributes([{ key: PAYMENT_AWAITS, value: [id] }]),
      };
    }
  };
  const getHandle = (workflowId: string, runId: string) => ({
    signal: async (signal: string, content: unknown) => {
      if (gone.includes(workflowId)) throw new WorkflowNotFoundError("gone", workflowId, runId);
      if (refusing.includes(workflowId)) throw new Error("too many signals");
      sent.push({ runId, signal, content });
    },
  });
  const withAbortSignal = <A>(_: AbortSignal, work: () => Promise<A>) => work();
  // Of a client, only this is asked for.
  const client = { workflow: { list, getHandle }, withAbortSignal } as unknown as Client;
  return { client, queries, sent };
};
