import { isRecord } from "@durable-payments/api-core/values";
import type { LoadedDataConverter, Payload } from "@temporalio/common";

/** The latest state of the ledger that the tracker has seen, kept outside the ledger: its `LedgerMark`. */
export interface WitnessedMark {
  readonly ledgerId: string;
  readonly epoch: number;
  readonly sequence: number;
}

/** State of the tracker, reported with each heartbeat and passed to its next run. Times are milliseconds since 1970. */
export interface Tracked {
  /** The account that it works for, as a hash. */
  readonly account: string;
  /** The highest sequence of the ledger that was seen: a ledger with a lower sequence was restored. */
  readonly mark?: WitnessedMark;
  /** When everything due was last read. */
  readonly readAt: number;
  /** Payouts, cardholders and balances that are waited for. */
  readonly waiting: number;
  /** Workflow ids with a write of unknown outcome of which Temporal knows no run: at most 20. */
  readonly lostRuns?: ReadonlyArray<string>;
  /** The reason why the tracker cannot work, and since when. */
  readonly failing?: { readonly why: string; readonly since: number };
}

/** Checks whether details of a heartbeat, or an input, are the tracker's. */
export const isTracked = (details: unknown): details is Tracked => {
  if (!isRecord(details)) return false;
  const { account, mark, readAt, waiting } = details;
  const isMark =
    isRecord(mark) && Number.isFinite(mark["epoch"]) && Number.isFinite(mark["sequence"]);
  const isCounted = Number.isFinite(readAt) && Number.isFinite(waiting);
  return typeof account === "string" && isCounted && (mark === undefined || isMark);
};

/** Returns the workflow id of the tracker of an account: one for all of its workers. */
export const trackerId = (accountHash: string, name?: string): string =>
  `tracker/${accountHash}${name === undefined ? "" : `/${name}`}`;

/** Returns the account, as a hash, in the workflow id of a tracker. */
export const trackedAccount = (id: string): string => id.split("/")[1] ?? "";

/** Returns the last heartbeat of the tracker's or the notifier's activity. */
export const readReported = async (
  converter: LoadedDataConverter,
  activity: { heartbeatDetails?: { payloads?: Array<Payload> | null } | null } | undefined,
): Promise<unknown> => {
  // Loaded only when needed: it is the slowest module of this package.
  const { decodeArrayFromPayloads } =
    await import("@temporalio/common/lib/internal-non-workflow/index.js");
  const [details] = await decodeArrayFromPayloads(converter, activity?.heartbeatDetails?.payloads);
  return details;
};
