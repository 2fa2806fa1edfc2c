import { startSimulator } from "@durable-payments/simulator";
import { checkout, spawnProcess, type StartedProcess } from "@durable-payments/tools/processes";
import { createLocalEnvironment, workerVariables } from "@durable-payments/tools/testing";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";

it("the worker and the client of a created project pay, as docs/first-workflow.md shows them", async () => {
  const folder = await mkdtemp(join(tmpdir(), "first-workflow-"));
  const TEMPORAL_CONFIG_FILE = join(folder, "temporal.toml");
  await writeFile(TEMPORAL_CONFIG_FILE, "[profile.default]\n");
  const [temporal, simulator] = await Promise.all([
    createLocalEnvironment(),
    startSimulator({ settleAfter: 0 }),
  ]);
  const programs: Array<StartedProcess> = [];
  onTestFinished(async () => {
    await Promise.all(programs.map((program) => program.kill("SIGKILL")));
    await temporal.teardown();
    await simulator.stop();
    await rm(folder, { recursive: true });
  });
  const start = (program: string, ...args: ReadonlyArray<string>) => {
    const file = join(checkout, "packages/create/template/src", program);
    const started = spawnProcess(
      process.execPath,
      ["--conditions=@durable-payments/source", file, ...args],
      {
        env: {
          ...workerVariables(temporal, simulator),
          TEMPORAL_CONFIG_FILE,
          PAYMENTS_PERSON: "ada",
          PAYMENTS_LEDGER: `sqlite:${join(folder, "ledger.sqlite")}`,
        },
      },
    );
    programs.push(started);
    return started;
  };
  const worker = start("worker.ts");
  await vi.waitFor(() => expect(worker.stdout()).toContain("is ready"), { timeout: 120_000 });
  const pay = start("pay.ts", "invoice-1");
  expect(await pay.exited).toEqual({ code: 0, signal: undefined });
  expect(pay.stdout()).toContain("completed");
  expect((await simulator.state()).payouts).toHaveLength(1);
  expect(await worker.kill("SIGTERM")).toEqual({ code: 0, signal: undefined });
});
