import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { checkout } from "../src/processes.ts";

const PROMTOOL = "/usr/bin/promtool";
const TESTS = "alerts.test.yaml";
const RUNBOOK = "docs/runbook.md";
const folder = join(checkout, "deploy/prometheus");
const read = (path: string): string => readFileSync(join(checkout, path), "utf8");

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook_url: string };
}

interface TestFile {
  readonly tests: ReadonlyArray<{
    readonly alert_rule_test: ReadonlyArray<{
      readonly alertname: string;
      readonly exp_alerts: ReadonlyArray<unknown>;
    }>;
  }>;
}

const { groups } = parse(read("deploy/prometheus/alerts.yaml")) as {
  readonly groups: ReadonlyArray<{ readonly rules: ReadonlyArray<Rule> }>;
};
const rules = groups.flatMap((group) => group.rules);

it("each alert links a section of the runbook that exists, by an address that a pager can open", () => {
  const repository = /REPOSITORY = "(.*)"/.exec(read("site/src/pages.ts"))?.[1] ?? "";
  const sections = [...read(RUNBOOK).matchAll(/^## (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
  const links = sections.map((section) => `${repository}/blob/main/${RUNBOOK}#${section}`);
  for (const { annotations } of rules) expect(links).toContain(annotations.runbook_url);
});

it("each alert has a case in which it fires, and one in which it is silent", () => {
  const { tests } = parse(read(`deploy/prometheus/${TESTS}`)) as TestFile;
  const cases = tests.flatMap((one) => one.alert_rule_test);
  const named = (isFiring: boolean) =>
    cases
      .filter(({ exp_alerts }) => exp_alerts.length > 0 === isFiring)
      .map(({ alertname }) => alertname);
  const alerts = rules.map(({ alert }) => alert).toSorted();
  expect(alerts.length).toBeGreaterThan(0);
  expect([...new Set(named(true))].toSorted()).toEqual(alerts);
  expect([...new Set(named(false))].toSorted()).toEqual(alerts);
});

it("no alert depends on the name of a scrape job, which each installation chooses", () => {
  for (const { expr } of rules) expect(expr).not.toMatch(/\bjob *[=!]/);
});

it("Prometheus sends alerts to the Alertmanager of Compose, whose routes have a receiver", () => {
  const { alerting } = parse(read("deploy/prometheus/prometheus.yml")) as {
    readonly alerting: { readonly alertmanagers: unknown };
  };
  expect(JSON.stringify(alerting)).toContain('"alertmanager:9093"');
  const { services } = parse(read("deploy/compose/compose.yaml"), { merge: true }) as {
    readonly services: Readonly<Record<string, unknown>>;
  };
  expect(Object.keys(services)).toContain("alertmanager");
  const { receivers, route } = parse(read("deploy/prometheus/alertmanager.yml")) as {
    readonly receivers: ReadonlyArray<{ readonly name: string }>;
    readonly route: { readonly receiver: string };
  };
  expect(receivers.map(({ name }) => name)).toContain(route.receiver);
});

it("promtool finds that these cases hold", ({ skip }) => {
  if (!existsSync(PROMTOOL)) skip(`${PROMTOOL} is missing: apt install prometheus`);
  for (const args of [
    ["check", "config", "prometheus.yml"],
    ["test", "rules", TESTS],
  ]) {
    const { status, stderr, stdout } = spawnSync(PROMTOOL, args, { cwd: folder, encoding: "utf8" });
    expect(`${stdout}${stderr}`).not.toContain("FAILED");
    expect(status).toBe(0);
  }
});
