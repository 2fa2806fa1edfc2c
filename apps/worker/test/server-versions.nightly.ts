import { clusterServer, latestServer } from "@durable-payments/tools/servers";
import { skippedBecause } from "@durable-payments/tools/skip";
import {
  accessOf,
  makeKeyring,
  makeTestFolder,
  type ReadyProcess,
  runApp,
  startApp,
  workerVariables,
} from "@durable-payments/tools/testing";
import { Connection } from "@temporalio/client";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { type Cluster, startCluster, whyNoCluster } from "./support/cluster.ts";
import { payoutInput } from "./support/inputs.ts";
import { settingsFile } from "./support/rig.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const simulatorOf = (clientId: string) =>
  startApp("simulator", ["--port=0", "--json", `--client-id=${clientId}`, `--api-key=${clientId}`]);

// Parts of Temporal that tools and workers depend on changed between versions: lists, pending activities, signals.
describe.each([clusterServer, latestServer])("Temporal server $version", (version) => {
  describe("on PostgreSQL", skippedBecause(whyNoCluster(version)), () => {
    const folder = makeTestFolder();
    const processes: Array<ReadyProcess> = [];
    let cluster: Cluster;
    let home: ReadyProcess;
    let variables: NodeJS.ProcessEnv;
    beforeAll(async () => {
      cluster = await startCluster({ folder: folder.path, version });
      const [first, second] = await Promise.all([simulatorOf("home"), simulatorOf("eu")]);
      home = first;
      processes.push(first, second);
      const { url: baseUrl, ...credentials } = accessOf(second);
      variables = {
        ...folder.variables,
        ...workerVariables(cluster, accessOf(first)),
        ...settingsFile(folder.path, {
          assumptions: { listLagSeconds: 0 },
          accounts: { eu: { baseUrl, ...credentials } },
        }),
        PAYMENTS_KEYRING: makeKeyring(folder.path),
        PAYMENTS_LEDGER: cluster.database.address("postgres"),
      };
      const workers = [1, 2].map(() => startApp("worker", ["--json"], variables));
      processes.push(...(await Promise.all(workers)));
    });
    afterAll(async () => {
      await Promise.all(processes.map((one) => one.kill("SIGKILL")));
      await cluster?.stop();
      folder.remove();
    });

    const starter = async (...args: ReadonlyArray<string>): Promise<string> => {
      const { exitCode, stderr, stdout } = await runApp("starter", args, variables);
      expect({ args, exitCode, stderr }).toMatchObject({ exitCode: 0 });
      return stdout;
    };
    const fileOf = (id: string, account?: string): string => {
      const file = join(folder.path, `${id}.json`);
      const payout = { ...payoutInput.payout, payout_reference: id };
      writeFileSync(file, JSON.stringify({ ...payoutInput, payout, ...(account && { account }) }));
      return file;
    };
    const acting = ["--yes", "--by", "ada", "--reason", "test"];

    it("pays from both accounts, and lists what was paid", async () => {
      await starter("pay", fileOf("home-1"), "--id", "home-1", "--by", "ada");
      await starter("pay", fileOf("eu-1", "eu"), "--id", "eu-1", "--by", "ada");
      for (const id of ["home-1", "eu-1"]) await starter("show", id, "--follow", "--exit-status");
      const isListed = async () => {
        const list = await starter("list", "--status", "succeeded");
        expect(list).toMatch(/home-1/);
        expect(list).toMatch(/eu-1/);
      };
      await vi.waitFor(isListed, { timeout: 20_000, interval: 500 });
    });

    it("retries what was refused, and pays it once", async () => {
      const fault = { kind: "refusal-in-200", operation: "createPayout" };
      await fetch(`${accessOf(home).url}/_simulator/faults`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(fault),
      });
      await starter("pay", fileOf("refused"), "--id", "refused", "--by", "ada");
      const failed = await runApp(
        "starter",
        ["show", "refused", "--follow", "--exit-status"],
        variables,
      );
      expect(failed.exitCode).not.toBe(0);
      await starter("retry", "refused", ...acting);
      await starter("show", "refused", "--follow", "--exit-status");
    });

    it.runIf(version === latestServer)("a run that Temporal has paused is open", async () => {
      const file = fileOf("paused");
      const input = JSON.parse(readFileSync(file, "utf8")) as object;
      writeFileSync(file, JSON.stringify({ ...input, options: { approval: { above: "0.01" } } }));
      await starter("pay", file, "--id", "paused", "--by", "ada");
      const waits = async () => expect(await starter("show", "paused")).toMatch(/needs approval/);
      await vi.waitFor(waits, { timeout: 60_000, interval: 500 });
      const connection = await Connection.connect({ address: cluster.address });
      onTestFinished(() => connection.close());
      const run = { namespace: "default", workflowId: "paused", identity: "test", reason: "test" };
      await connection.workflowService.pauseWorkflowExecution(run);
      const { inbox } = JSON.parse(await starter("show", "paused", "--json")) as {
        readonly inbox: ReadonlyArray<{ readonly hash: string }>;
      };
      const hash = inbox[0]?.hash ?? "";
      await starter("approve", "paused", "--by", "grace", "--reason", "test", "--hash", hash);
      const isPaused = async () =>
        expect(await starter("show", "paused")).toMatch(/paused in Temporal/);
      await vi.waitFor(isPaused, { timeout: 20_000, interval: 500 });
      expect(await starter("list")).toMatch(/paused/);
      // Only an open run is woken by a retry; a closed one would be started again.
      expect(await starter("retry", "paused", ...acting)).toMatch(/check again/);
      await connection.workflowService.unpauseWorkflowExecution(run);
      await starter("show", "paused", "--follow", "--exit-status");
    });

    it("recovers, and pays on", async () => {
      expect(await starter("recover", ...acting)).toMatch(/Recovered: epoch 2\./);
      await starter("pay", fileOf("after", "eu"), "--id", "after", "--by", "ada");
      await starter("show", "after", "--follow", "--exit-status");
    });
  });
});
