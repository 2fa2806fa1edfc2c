import { messageOf } from "@durable-payments/api-core/values";
import { payloadCounts } from "@durable-payments/codec";
import { Runtime } from "@temporalio/worker";
import { Context, Metric } from "effect";
import { prometheusText } from "./prometheus-text.ts";
import { readSdkMetrics } from "./sdk-metrics.ts";

/** Looks something up and sets its gauges. */
export type Look = () => void | Promise<void>;

/** What every metric of ours begins with; a user's own of Effect's registry are theirs to export. */
const OURS = "payments_";

const PAYLOADS = "payments_codec_payloads_total";

const payloadSnapshots = (): ReadonlyArray<Metric.Metric.Snapshot> =>
  payloadCounts().map(({ keyId, operation, payloads }) => ({
    id: PAYLOADS,
    type: "Counter",
    description: "Payloads that this process has encrypted and decrypted, by key",
    attributes: { operation, key: keyId },
    state: { count: payloads, incremental: true },
  }));

/** What cannot be looked up leaves the rest as it is. */
const orNothing = async <A>(look: () => A | Promise<A>): Promise<A | undefined> => {
  try {
    return await look();
  } catch (error) {
    Runtime.instance().logger.debug(`Metrics: ${messageOf(error)}`);
    return undefined;
  }
};

/**
 * Make the text that Prometheus scrapes: ours, and that of the SDK.
 *
 * @param looks which are taken before.
 */
export const scrape = async (looks: ReadonlyArray<Look>): Promise<string> => {
  const [sdk] = await Promise.all([orNothing(readSdkMetrics), ...looks.map(orNothing)]);
  const ours = Metric.snapshotUnsafe(Context.empty()).filter(({ id }) => id.startsWith(OURS));
  return `${prometheusText([...ours, ...payloadSnapshots()])}${sdk ?? ""}`;
};
