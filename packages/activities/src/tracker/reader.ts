/**
 * The part that the readers of the tracker share: a reading, its failure, and the completion of a wait.
 *
 * A reading may fail for one object, or because the service fails. The first is shown to people and delays nothing else; the
 * second is thrown, and the reader tries again later.
 */
import { isPaymentsError, type Page } from "@durable-payments/client/effect";
import { messageOf } from "@durable-payments/client/values";
import type { JsonObject, RecordedWait } from "@durable-payments/ledger";
import { atOnce, temporalReason } from "@durable-payments/protocol";
import { ActivityNotFoundError } from "@temporalio/client";
import { Effect } from "effect";
import type { ClientCall } from "../run-operation.ts";
import type { Seen } from "../wait-readings.ts";
import { isRefusedRead, withReason } from "../write/outcomes.ts";
import type { JanitorOptions } from "./janitor.ts";

/** Dependencies of the readers. */
export interface ReaderOptions extends Pick<
  JanitorOptions,
  "account" | "client" | "ledger" | "warn"
> {
  /** Calls the service; each is one request, or one page. */
  readonly call: <A>(call: ClientCall<A>) => Promise<A>;
}

/** Share of the account's rate that the tracker reads with: half of it by the list of what has settled. */
const SHARE_OF_RATE = 1 / 4;

/** Requests a second, if no rate limits the account. */
const REQUESTS_PER_SECOND = 20;

/** Completions, and requests, that are under way at once. */
export const PARALLEL = 16;

/** Failures that concern one item only: the service itself can be read. */
const OF_ONE: ReadonlySet<string> = new Set([
  "RequestRefused",
  "InvalidRequest",
  "UnexpectedAnswer",
]);

/** Waits for one object that was read; without `seen` it is still open. */
interface ReadOfWaits {
  readonly waits: ReadonlyArray<RecordedWait>;
  readonly seen?: Seen["seen"] | undefined;
  /** Why it cannot be read; null if it can, undefined if that is not known. */
  readonly problem?: string | null | undefined;
}

/** A service may respond to the page after the last one with an error. */
export const isLastPage = (
  { item_list, total_page, unreadable }: Page<object>,
  page_num: number,
): boolean =>
  item_list.length + unreadable.length === 0 ||
  page_num >= (total_page ?? Number.POSITIVE_INFINITY);

/** Makes the reader of an account, which its lists and schedules share. */
export const makeReader = ({ call, client, ledger, warn }: ReaderOptions) => {
  /** The assumptions, and the requests a second of each of the two readers of payouts. */
  const settings = () =>
    call(({ options: { assumptions }, rate }) =>
      Effect.sync(() => ({
        assumptions,
        perSecond: ((rate() ?? REQUESTS_PER_SECOND / SHARE_OF_RATE) * SHARE_OF_RATE) / 2,
      })),
    );

  /** By workflow id alone: the activity's id names the object of its wait, and a reset keeps it in another run. */
  const complete = async (wait: RecordedWait, outcome: JsonObject) => {
    const { activityId, workflowId } = wait;
    try {
      await client.activity.complete({ workflowId, activityId }, outcome);
    } catch (error) {
      if (!(error instanceof ActivityNotFoundError)) {
        // It stays due, and does not delay the others.
        warn(`${activityId} of ${workflowId} could not be completed: ${temporalReason(error)}`);
        return [];
      }
    }
    return [{ ...wait, outcome }];
  };

  /** Completes waits whose object has an outcome, and records what was seen of the others. */
  const endSeen = async (read: ReadonlyArray<ReadOfWaits>): Promise<void> => {
    const each = read.flatMap(({ waits, ...of }) => waits.map((wait) => ({ wait, ...of })));
    const isOpen = ({ seen }: Omit<ReadOfWaits, "waits">) => (seen?.outcome ?? "open") === "open";
    await ledger.readWaits(each.filter(isOpen));
    const ended = each.filter((one) => !isOpen(one));
    // The result is plain JSON.
    const closed = await atOnce(ended, ({ seen, wait }) => complete(wait, { ...seen }), PARALLEL);
    await ledger.closeWaits(closed.flat());
  };

  /**
   * Reads one object. A failure is a problem of the object for people, or a fault of more than this object. A new object
   * may be unknown to a part of the service, for as long as it may be missing from a list.
   */
  const readOne = async <A>(
    name: string,
    ageMs: number,
    read: ClientCall<A>,
  ): Promise<{ readonly value?: A; readonly problem?: string; readonly fault?: unknown }> => {
    try {
      return { value: await call(read) };
    } catch (error) {
      if (!isPaymentsError(error) || !OF_ONE.has(error._tag)) return { fault: error };
      warn(`${name}: ${error.message}`);
      const { assumptions } = await settings();
      return ageMs < assumptions.listLagSeconds * 1_000 ? {} : { problem: withReason(error) };
    }
  };

  /** Throws a fault that concerns all, such as an outage. The service may break at one item: that delays no other. */
  const throwFault = (read: ReadonlyArray<{ readonly fault?: unknown }>): void => {
    const faulty = read.filter(({ fault }) => fault !== undefined);
    const isOfOne = (fault: unknown): boolean =>
      faulty.length < read.length && isRefusedRead(fault, 599);
    const ofAll = faulty.find(({ fault }) => !isOfOne(fault));
    if (ofAll !== undefined) throw ofAll.fault;
    for (const { fault } of faulty) warn(messageOf(fault));
  };

  return { settings, endSeen, readOne, throwFault };
};

/** A reader; see {@link makeReader}. */
export type Reader = ReturnType<typeof makeReader>;
