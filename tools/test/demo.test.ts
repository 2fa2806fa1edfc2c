import { join } from "node:path";
import { expect, it } from "vitest";
import { checkout } from "../src/processes/apps.ts";
import { spawnProcess } from "../src/processes/spawn-process.ts";

it("onboards a cardholder and pays out by real processes, and leaves none running", async () => {
  const demo = spawnProcess(process.execPath, [
    "--conditions=@durable-payments/source",
    join(checkout, "tools/src/demo.ts"),
  ]);
  const { code } = await demo.exited;
  const printed = demo.stdout();
  expect(demo.stderr()).toBe("");
  expect(printed).toMatch(/card_id +\S+/);
  expect(printed).toMatch(/payout_status +completed/);
  expect(printed).toContain("Both runs completed");
  expect(code).toBe(0);
  const webUi = /while the demo runs: (\S+)/.exec(printed)?.[1] ?? "";
  await expect(fetch(webUi)).rejects.toThrow("fetch failed");
}, 120_000);
