import type { LoadedDataConverter, Payload } from "@temporalio/common";

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
