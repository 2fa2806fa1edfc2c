import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Connection } from "@temporalio/client";
import { msToTs } from "@temporalio/common/lib/time.js";
import { skippedBecause } from "../src/testing/skip.ts";
import { afterAll, describe, expect, it } from "vitest";
import {
  type ClusterProcess,
  createCluster,
  executableOfCluster,
  whyNoCluster,
} from "../src/cluster.ts";
import { spawnProcess, type StartedProcess } from "../src/processes.ts";
import { makeTestFolder } from "../src/testing/apps.ts";

const missing = whyNoCluster();

describe("Temporal's server on PostgreSQL", skippedBecause(missing), () => {
  const folder = makeTestFolder();
  const running = new Map<ClusterProcess, StartedProcess>();
  const start = async (one: ClusterProcess) => {
    const { args, command, name, options } = one;
    const started = spawnProcess(command, args, { name, ownGroup: true, ...options });
    running.set(one, started);
    await one.ready(started);
  };
  const stop = async (one: ClusterProcess, signal: NodeJS.Signals = one.killedBy) => {
    await running.get(one)?.kill(signal);
    running.delete(one);
  };
  afterAll(async () => {
    for (const one of [...running.keys()].reverse()) await stop(one);
    folder.remove();
  });

  it("forgets what came after a base backup", { timeout: 120_000 }, async () => {
    const { database, servers, ...cluster } = await createCluster({
      folder: folder.path,
      executable: executableOfCluster(),
      shards: 4,
      layout: { server: ["frontend", "history", "matching", "worker"] },
    });
    const config = await readFile(join(folder.path, "config", "server.yaml"), "utf8");
    const ports = [...config.matchAll(/"(?:grpc|membership)Port":(\d+)/g)].map(([, port]) =>
      Number(port),
    );
    expect(ports).toHaveLength(8);
    // PostgreSQL keeps them in a smallint.
    expect(Math.max(...ports)).toBeLessThan(32_768);

    await cluster.start(start);
    const connection = Connection.lazy({ address: cluster.addresses[0] });
    const namespaces = async () => {
      const listed = await connection.workflowService.listNamespaces({});
      return listed.namespaces.map(({ namespaceInfo }) => namespaceInfo?.name);
    };
    try {
      expect(await database.backUp()).toBe(true);
      await connection.workflowService.registerNamespace({
        namespace: "after-the-backup",
        workflowExecutionRetentionPeriod: msToTs("1 day"),
      });
      expect(await namespaces()).toContain("after-the-backup");

      for (const server of servers) await stop(server);
      // Immediately: it recovers from its log at the next start.
      await stop(database.process);
      await database.putBack();
      await start(database.process);
      for (const server of servers) await start(server);
      await connection.ensureConnected();
      await expect.poll(namespaces).toContain("default");
      expect(await namespaces()).not.toContain("after-the-backup");
    } finally {
      await connection.close();
    }
  });
});
