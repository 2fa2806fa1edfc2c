import { Context, Metric } from "effect";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { prometheusText } from "../src/metrics/prometheus-text.ts";

const PROMTOOL = "/usr/bin/promtool";

const registry = Context.make(Metric.MetricRegistry, new Map());
const attributes = { account: 'a "b\\c"\nd' };
Metric.counter("made_total", { description: "Made", attributes }).updateUnsafe(2, registry);
const took = Metric.histogram("took_seconds", { description: "Took", boundaries: [0.1, 1] });
for (const seconds of [0.05, 0.5, 0.5, 5]) took.updateUnsafe(seconds, registry);
Metric.gauge("age_seconds", { description: "Age" }).updateUnsafe(NaN, registry);
const text = prometheusText(Metric.snapshotUnsafe(registry));

it("writes counters, histograms and gauges, and escapes labels", () => {
  expect(text.split("\n")).toEqual([
    "# HELP made_total Made",
    "# TYPE made_total counter",
    String.raw`made_total{account="a \"b\\c\"\nd"} 2`,
    "# HELP took_seconds Took",
    "# TYPE took_seconds histogram",
    'took_seconds_bucket{le="0.1"} 1',
    'took_seconds_bucket{le="1"} 3',
    'took_seconds_bucket{le="+Inf"} 4',
    "took_seconds_sum 6.05",
    "took_seconds_count 4",
    "# HELP age_seconds Age",
    "# TYPE age_seconds gauge",
    "age_seconds NaN",
    "",
  ]);
});

it("promtool finds nothing wrong with it", ({ skip }) => {
  if (!existsSync(PROMTOOL)) skip(`${PROMTOOL} is missing: apt install prometheus`);
  const { status, stderr } = spawnSync(PROMTOOL, ["check", "metrics"], {
    input: text,
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});
