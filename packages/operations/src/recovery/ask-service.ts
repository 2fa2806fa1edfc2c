import { makePaymentsClient, type Payout } from "@durable-payments/api-core";
import { isInDoubt, type RecordedSend } from "@durable-payments/journal";
import { messageOf } from "@durable-payments/api-core/values";
import { stepKinds } from "@durable-payments/protocol";

/** What the service reports of a send that Temporal does not know. */
export interface LostSend {
  readonly step: string;
  readonly operation: string;
  readonly number: number;
  readonly outcome: RecordedSend["outcome"];
  readonly ids: Readonly<Record<string, string>>;
  readonly begunAt: string;
  readonly amount?: string;
  readonly currency?: string;
  /** Whether it was made, as far as journal and service know together. */
  readonly reconciliation: "made" | "notMade" | "unclear";
  /** What the service reports of it, or why it reports nothing. */
  readonly service: string;
}

const PAYOUT = stepKinds.createPayout.sends;

type Client = ReturnType<typeof makePaymentsClient>;

/** Most rows of the list of payouts that are read to find keys by; one not found is unclear. */
const MOST_ROWS = 5_000;

/** Payouts by their keys, as far as the list could be read. */
export interface FoundByKey {
  readonly payouts: ReadonlyMap<string, Payout>;
  /** Why the list was not read to its end, where it was not. */
  readonly fault?: string;
}

/** Find the payouts that bear one of these keys. */
export const findByKeys = async (
  client: Pick<Client, "streams">,
  keys: ReadonlySet<string>,
): Promise<FoundByKey> => {
  const payouts = new Map<string, Payout>();
  if (keys.size === 0) return { payouts };
  let rows = 0;
  try {
    for await (const payout of client.streams.listPayouts()) {
      const key = payout.unique_request_id;
      if (key !== undefined && keys.has(key)) payouts.set(key, payout);
      rows += 1;
      if (rows >= MOST_ROWS || payouts.size === keys.size) break;
    }
  } catch (error) {
    // What it did not show is unclear, and the rest of the report is worth having.
    return { payouts, fault: messageOf(error) };
  }
  return { payouts };
};

/** The keys of payouts of which the journal does not know what became of them. */
export const keysInDoubt = (sends: ReadonlyArray<RecordedSend>): ReadonlySet<string> =>
  new Set(
    sends.flatMap((send) =>
      send.operation === PAYOUT.operation && send.key !== undefined && isInDoubt(send)
        ? [send.key]
        : [],
    ),
  );

const statusOf = ({ payout_id, payout_status = "of unknown status" }: Payout): string =>
  `payout ${payout_id} is ${payout_status}`;

const reconcileSend = async (
  client: Pick<Client, "retrievePayout">,
  send: RecordedSend,
  byKey: FoundByKey,
): Promise<Pick<LostSend, "reconciliation" | "service"> & { readonly ids?: LostSend["ids"] }> => {
  if (send.outcome === "notCarriedOut") return { reconciliation: "notMade", service: "not asked" };
  if (send.outcome === "undone") return { reconciliation: "notMade", service: "undone since" };
  const { payout_id } = send.ids;
  if (send.outcome === "carriedOut") {
    if (payout_id === undefined)
      return { reconciliation: "made", service: "it answered so at the time" };
    try {
      return {
        reconciliation: "made",
        service: statusOf(await client.retrievePayout({ payout_id })),
      };
    } catch (error) {
      return { reconciliation: "unclear", service: messageOf(error) };
    }
  }
  const found = byKey.payouts.get(send.key ?? "");
  return found === undefined
    ? { reconciliation: "unclear", service: byKey.fault ?? "not found by its key" }
    : { reconciliation: "made", service: statusOf(found), ids: { payout_id: found.payout_id } };
};

/** Ask the service what became of one send. */
export const askService = async (
  client: Pick<Client, "retrievePayout">,
  send: RecordedSend,
  byKey: FoundByKey,
): Promise<LostSend> => {
  const { amount, begunAt, currency, number, operation, outcome, step } = send;
  return {
    step,
    operation,
    number,
    outcome,
    ids: send.ids,
    begunAt: new Date(begunAt).toISOString(),
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
    ...(await reconcileSend(client, send, byKey)),
  };
};
