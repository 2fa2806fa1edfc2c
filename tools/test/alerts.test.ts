import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkout } from "../src/processes.ts";

const PROMTOOL = "/usr/bin/promtool";
const folder = join(checkout, "deploy/prometheus");
const read = (path: string): string => readFileSync(join(checkout, path), "utf8");

const rules = read("deploy/prometheus/alerts.yaml");
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = ""]) => name);

it("each alert names a section of the runbook", () => {
  const sections = [...read("docs/runbook.md").matchAll(/^## (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
  const named = [...rules.matchAll(/runbook: docs\/runbook\.md#(\S+)$/gm)].map(([, one]) => one);
  expect(named).toHaveLength(alerts.length);
  for (const section of named) expect(sections).toContain(section);
});

it("each alert has a case in which it fires and one in which it is silent", () => {
  const cases = [...read("deploy/prometheus/alerts.test.yaml").matchAll(/- name: (.+)$/gm)];
  expect(cases.map(([, name]) => name)).toEqual(
    alerts.flatMap((alert) => [`${alert} fires`, `${alert} is silent`]),
  );
});

it("promtool finds that these cases hold", ({ skip }) => {
  if (!existsSync(PROMTOOL)) skip(`${PROMTOOL} is missing: apt install prometheus`);
  for (const args of [
    ["check", "config", "prometheus.yml"],
    ["test", "rules", "alerts.test.yaml"],
  ]) {
    const { status, stderr, stdout } = spawnSync(PROMTOOL, args, { cwd: folder, encoding: "utf8" });
    expect(`${stdout}${stderr}`).not.toContain("FAILED");
    expect(status).toBe(0);
  }
});
