import { isRecord } from "@durable-payments/api-core/values";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { payoutInput } from "./support/inputs.ts";
import { makeRig } from "./support/rig.ts";

const WITHIN = { timeout: 60_000, interval: 500 };
const WORKFLOW_ID = "a-run-that-nobody-must-know";

/** A key that says when it expires: its end is shown. */
const EXPIRES_AT = 4_102_444_800;
const claims = Buffer.from(JSON.stringify({ exp: EXPIRES_AT })).toString("base64url");

const { folder, simulator, startWorker, temporal } = await makeRig({
  apiKey: `header.${claims}.signature`,
  settleAfter: 0,
});

const fileOf = (path: string): string =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

const namesIn = (text: string): ReadonlyArray<string> => [
  ...new Set([...text.matchAll(/\b(?:payments|temporal)_[a-z_]+\b/g)].map(([name]) => name)),
];

/** A metric by a name that a query uses: of a histogram that of one of its parts. */
const metricOf = (name: string): string => name.replace(/_(?:bucket|count|sum)$/, "");

/** The labels of each metric that docs/metrics.md has in its tables. */
const documented = new Map(
  [...fileOf("docs/metrics.md").matchAll(/^\| `(payments_\w+)`(?:[^|]*\|){3}([^|]*)\|/gm)].map(
    ([, name = "", labels = ""]) => [name, [...labels.matchAll(/`(\w+)`/g)].map(([, one]) => one)],
  ),
);

const textsIn = (value: unknown): ReadonlyArray<string> =>
  isRecord(value) ? Object.values(value).flatMap(textsIn) : [String(value)];

const keyring = (): string => {
  const path = join(folder.path, "keyring");
  mkdirSync(path);
  const key = `${randomBytes(32).toString("base64")}\n`;
  writeFileSync(join(path, "k1.key"), key, { mode: 0o600 });
  writeFileSync(join(path, "current"), "k1\n");
  return path;
};

it(
  "a scrape has what is documented, what rules and dashboard ask for, and no value",
  { timeout: 240_000 },
  async () => {
    const worker = await startWorker({ PAYMENTS_HEALTH_ADDRESS: "0", PAYMENTS_KEYRING: keyring() });
    await simulator.addFault({ kind: "dropped", operation: "createPayout" });
    const run = await temporal.client.workflow.start("payout", {
      workflowId: WORKFLOW_ID,
      taskQueue: "payments",
      args: [payoutInput],
    });
    await vi.waitFor(
      async () => expect((await run.describe()).status.name).toBe("COMPLETED"),
      WITHIN,
    );
    const scrape = async (): Promise<string> => {
      const response = await fetch(`http://${String(worker.ready["health"])}/metrics`);
      expect(response.headers.get("content-type")).toContain("version=0.0.4");
      return response.text();
    };
    const text = await vi.waitFor(async () => {
      const scraped = await scrape();
      // Those that Temporal is asked for come last.
      expect(scraped).toContain('payments_runs_in_doubt{standing="ended"} ');
      expect(scraped).toContain("payments_human_task_oldest_seconds ");
      expect(scraped).toContain('payments_runs{type="other",stage="works"} ');
      return scraped;
    }, WITHIN);
    const has = (...lines: ReadonlyArray<string>) => {
      for (const line of lines) expect(text).toContain(`\n${line}\n`);
    };
    const requests = (operation: string, outcome: string, count: number) =>
      `payments_request_duration_seconds_count{operation="${operation}",outcome="${outcome}"} ${count}`;
    has(
      requests("signIn", "Success", 1),
      requests("createBeneficiary", "Success", 1),
      requests("createPayout", "OutcomeUnknown", 1),
      "payments_journal_conflicts_total 0",
      "payments_sends_paused 0",
      "payments_human_task_oldest_seconds 0",
      'payments_runs_in_doubt{standing="ended"} 0',
      'payments_runs{type="payout",stage="waits"} 0',
      "payments_list_lag_assumed_seconds 180",
      `payments_credential_expiry_timestamp_seconds{peer="service",credential="apiKey"} ${EXPIRES_AT}`,
    );
    expect(text).not.toMatch(/createPayout",outcome="Success"/);
    expect(text).toMatch(/payments_reconciliations_total\{[^}]*verdict="Found"[^}]*\} 1\n/);
    expect(text).toMatch(/payments_codec_payloads_total\{operation="encrypt",key="k1"\} [1-9]/);

    const metrics = [...text.matchAll(/^# TYPE (\w+) \w+$/gm)].map(([, name = ""]) => name);
    expect(metrics.filter((name) => name.startsWith("payments_")).toSorted()).toEqual(
      [...documented.keys()].toSorted(),
    );
    for (const [, name = "", labels = ""] of text.matchAll(/^(payments_\w+)\{(.*)\} /gm)) {
      const known = [...(documented.get(metricOf(name)) ?? []), "le"];
      for (const [, label] of labels.matchAll(/(\w+)="/g)) expect(known).toContain(label);
    }

    const asked = ["deploy/prometheus/alerts.yaml", "deploy/grafana/dashboards/payments.json"]
      .flatMap((path) => namesIn(fileOf(path)))
      .map(metricOf);
    // Nothing has failed yet.
    const absent = asked.filter((name) => !metrics.includes(name));
    expect(absent.filter((name) => name !== "temporal_request_failure_total")).toEqual([]);

    // "local" and "Y" stand in words of the SDK's.
    const values = textsIn(payoutInput).filter((value) => value.length > 5);
    expect(values).toContain("250.00");
    for (const value of [WORKFLOW_ID, run.firstExecutionRunId, ...values, claims]) {
      expect(text).not.toContain(value);
    }
  },
);
