import { startSimulator } from "@durable-payments/simulator";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { payoutInput } from "./support/inputs.ts";
import { makeRig } from "./support/rig.ts";

const WITHIN = { timeout: 60_000, interval: 300 };
const PAYOUTS = 8;

const { folder, startWorker, temporal } = await makeRig();

it(
  "a worker is ready unless its key is refused, and drains with nothing lost",
  { timeout: 240_000 },
  async () => {
    const stateFile = join(folder.path, "ledger");
    const serving = (apiKey: string, port = 0) =>
      startSimulator({ apiKey, port, settleAfter: 0, stateFile });
    let service = await serving("first-key");
    const port = Number(new URL(service.url).port);
    const keyFile = join(folder.path, "service.key");
    writeFileSync(keyFile, "first-key\n");
    const settings = {
      PAYMENTS_API_KEY: "",
      PAYMENTS_API_KEY_FILE: keyFile,
      PAYMENTS_BASE_URL: service.url,
    };
    const worker = await startWorker({ ...settings, PAYMENTS_HEALTH_ADDRESS: "0" });
    const health = String(worker.ready["health"]);
    expect(health).toMatch(/^127\.0\.0\.1:\d+$/);
    const get = (path: string) => fetch(`http://${health}${path}`);
    const wrong = async () => {
      const response = await get("/readyz");
      const lines = (await response.text()).trim().split("\n");
      const verdicts = lines.map((line) => JSON.parse(line) as { check: string; ok: boolean });
      const names = verdicts.filter(({ ok }) => !ok).map(({ check }) => check);
      expect(response.status).toBe(names.length === 0 ? 200 : 503);
      return { names, text: lines.join("\n") };
    };
    await vi.waitFor(async () => expect((await wrong()).names).toEqual([]), WITHIN);
    expect((await get("/livez")).status).toBe(200);
    expect((await get("/")).status).toBe(404);

    // The service knows another key from now on, and no token of the first.
    await service.stop();
    service = await serving("second-key", port);
    await service.addFault({ kind: "token-expired" });
    await vi.waitFor(async () => expect((await wrong()).names).toEqual(["signIn"]), WITHIN);
    expect((await wrong()).text).not.toContain("first-key");
    expect((await get("/livez")).status).toBe(200);
    writeFileSync(keyFile, "second-key\n");
    await vi.waitFor(async () => expect((await wrong()).names).toEqual([]), WITHIN);

    await service.addFault({
      kind: "slow",
      operation: "createPayout",
      milliseconds: 5000,
      times: 2,
    });
    const runs = await Promise.all(
      Array.from({ length: PAYOUTS }, (_, index) =>
        temporal.client.workflow.start("payout", {
          workflowId: `drained-${index}`,
          taskQueue: "payments",
          args: [payoutInput],
        }),
      ),
    );
    // Carried out, and not answered yet.
    await vi.waitFor(async () => {
      expect((await service.state()).payouts.length).toBeGreaterThan(0);
    }, WITHIN);
    process.kill(worker.pid, "SIGTERM");
    await vi.waitFor(async () => expect((await wrong()).names).toEqual(["pollers"]), {
      timeout: 2000,
      interval: 20,
    });
    expect(await worker.exited).toMatchObject({ code: 0 });
    await startWorker(settings);
    await Promise.all(runs.map((run) => run.result()));
    expect((await service.state()).payouts).toHaveLength(PAYOUTS);
    await service.stop();
  },
);
