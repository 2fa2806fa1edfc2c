import type { Metric } from "effect";

/** A value of a metric, as it stands in Prometheus' text. */
interface Sample {
  readonly suffix?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const numberText = (value: number): string =>
  value === Infinity ? "+Inf" : value === -Infinity ? "-Inf" : String(value);

const labelsText = (labels: Sample["labels"]): string => {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replaceAll(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
};

const samplesOf = (snapshot: Metric.Metric.Snapshot): ReadonlyArray<Sample> => {
  const labels = snapshot.attributes ?? {};
  switch (snapshot.type) {
    case "Counter":
      return [{ labels, value: Number(snapshot.state.count) }];
    case "Gauge":
      return [{ labels, value: Number(snapshot.state.value) }];
    case "Histogram": {
      const { buckets, count, sum } = snapshot.state;
      return [
        ...[...buckets, [Infinity, count] as const].map(([bound, value]) => ({
          suffix: "_bucket",
          labels: { ...labels, le: numberText(bound) },
          value,
        })),
        { suffix: "_sum", labels, value: sum },
        { suffix: "_count", labels, value: count },
      ];
    }
    default:
      return [];
  }
};

/**
 * Write metrics as Prometheus reads them (text format 0.0.4).
 *
 * @param snapshots of counters, gauges and histograms; what else there is is left out.
 */
export const prometheusText = (snapshots: ReadonlyArray<Metric.Metric.Snapshot>): string =>
  [...Map.groupBy(snapshots, ({ id }) => id)]
    .flatMap(([name, ofName]) => {
      const [first] = ofName;
      return [
        `# HELP ${name} ${first?.description ?? ""}`,
        `# TYPE ${name} ${first?.type.toLowerCase()}`,
        ...ofName
          .flatMap(samplesOf)
          .map(
            ({ labels, suffix = "", value }) =>
              `${name}${suffix}${labelsText(labels)} ${numberText(value)}`,
          ),
      ];
    })
    .map((line) => `${line}\n`)
    .join("");
