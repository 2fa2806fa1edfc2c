import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkout, spawnProcess } from "../src/processes.ts";
import { exchangesOf, isAsShown } from "./support/transcript.ts";

it("onboards a cardholder and pays out by real processes, and leaves none running", async () => {
  const demo = spawnProcess(process.execPath, [
    "--conditions=@durable-payments/source",
    join(checkout, "tools/src/demo.ts"),
  ]);
  const { code } = await demo.exited;
  const printed = demo.stdout();
  expect(demo.stderr()).toBe("");
  expect(printed).toMatch(/createCard +\S+/);
  expect(printed).toMatch(/awaitPayout +\S+: completed/);
  expect(printed).toMatch(/demo-payout-from-eu\n[^]*awaitPayout +\S+: completed/);
  const readme = exchangesOf(readFileSync(join(checkout, "README.md"), "utf8"));
  const shown = readme.find(({ commands }) => commands.includes("npm run demo"))?.output ?? "none";
  expect(isAsShown(shown, printed) ? shown : printed).toBe(shown);
  expect(code).toBe(0);
  const webUi = /while the demo runs: (\S+)/.exec(printed)?.[1] ?? "";
  await expect(fetch(webUi)).rejects.toThrow("fetch failed");
});

it("says in one line that it was interrupted, and leaves nothing running", async () => {
  const demo = spawnProcess(process.execPath, [
    "--conditions=@durable-payments/source",
    join(checkout, "tools/src/demo.ts"),
  ]);
  const waits = Promise.withResolvers<string>();
  demo.onStdout(() => {
    const [, webUi] = /while the demo runs: (\S+)[^]*demo-onboarding/.exec(demo.stdout()) ?? [];
    if (webUi !== undefined) waits.resolve(webUi);
  });
  const webUi = await waits.promise;
  const before = demo.stdout();
  demo.send("SIGINT");
  const { code } = await demo.exited;
  expect(demo.stderr()).toBe("");
  const after = demo.stdout().slice(before.length).trimEnd().split("\n");
  expect(after.at(-1)).toBe("Interrupted; everything that the demo started has been stopped.");
  // The run may have continued in between.
  expect(after.slice(0, -1).filter((line) => !/^ {5}|^$/.test(line))).toEqual([]);
  expect(code).toBe(130);
  await expect(fetch(webUi)).rejects.toThrow("fetch failed");
});
