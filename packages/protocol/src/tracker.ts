import type { LoadedDataConverter, Payload } from "@temporalio/common";

/** What the tracker has seen of the ledger, kept outside it: `LedgerMark` of the ledger. */
export interface WitnessedMark {
  readonly ledgerId: string;
  readonly epoch: number;
  readonly sequence: number;
}

/** What the tracker's activity reports with each heartbeat, and hands on to its next run. Times: milliseconds since 1970. */
export interface Tracked {
  /** The highest sequence of the ledger that was seen: a ledger that has less was restored. */
  readonly mark?: WitnessedMark;
  /** When everything that is due was read last. */
  readonly readAt: number;
  /** Payouts, cardholders and balances that are waited for. */
  readonly waiting: number;
  /** Workflow ids with a write of unknown outcome of which Temporal knows no run: at most 20. */
  readonly lostRuns?: ReadonlyArray<string>;
  /** Why the tracker cannot do its work, and since when. */
  readonly failing?: { readonly why: string; readonly since: number };
}

/** The tracker's activity. */
export interface TrackerActivities {
  /**
   * Completes waits, notifies runs of answers, and settles what ended runs have left. Lasts for hours; then its workflow
   * continues as new with the result.
   */
  readonly track: (known: Tracked | undefined) => Promise<Tracked>;
}

/** Checks whether details of a heartbeat are the tracker's. */
export const isTracked = (details: unknown): details is Tracked =>
  typeof details === "object" && details !== null && "readAt" in details && "waiting" in details;

/** Returns the workflow id of the tracker of an account: one for all of its workers. */
export const trackerId = (accountHash: string, name?: string): string =>
  `tracker/${accountHash}${name === undefined ? "" : `/${name}`}`;

/** Returns what an activity that workers keep running, the tracker's or the notifier's, has last reported to Temporal. */
export const readReported = async (
  converter: LoadedDataConverter,
  activity: { heartbeatDetails?: { payloads?: Array<Payload> | null } | null } | undefined,
): Promise<unknown> => {
  // When it is needed: it takes longer to load than all else of this package.
  const { decodeArrayFromPayloads } =
    await import("@temporalio/common/lib/internal-non-workflow/index.js");
  const [details] = await decodeArrayFromPayloads(converter, activity?.heartbeatDetails?.payloads);
  return details;
};
