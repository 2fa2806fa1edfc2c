// `pay --wait` is for scripts: it ends when the payment has ended or needs a person, and its exit code says which.
import { runApp } from "@durable-payments/tools/testing";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { payoutInput } from "./support/inputs.ts";
import { makeRig } from "./support/rig.ts";

vi.setConfig({ testTimeout: 120_000 });

const rig = await makeRig();
const ledger = `sqlite:${join(rig.folder.path, "ledger.sqlite")}`;
const settings = { PAYMENTS_LEDGER: ledger };
beforeAll(() => rig.startWorker(settings));

const BY = ["--by", "ada"];
const run = (...args: ReadonlyArray<string>) =>
  runApp("starter", args, rig.variables({ ...settings, TEMPORAL_UI_URL: "https://ui.example" }));

/** Writes the file of one payment. */
const fileOf = (reference: string): string => {
  const file = join(rig.folder.path, `${reference}.json`);
  const payout = { ...payoutInput.payout, payout_reference: reference };
  writeFileSync(file, JSON.stringify({ ...payoutInput, payout }));
  return file;
};

it("ends with 0 once the payment is made, and prints what happened", async () => {
  const paid = await run("pay", fileOf("paid"), "--id", "paid", "--wait", ...BY);
  expect(paid).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("started") });
  expect(paid.stdout).toMatch(/^paid\n +status +succeeded/);
  const again = await run("pay", fileOf("paid"), "--id", "paid", "--wait", "--json", ...BY);
  expect(JSON.parse(again.stdout)).toMatchObject({ isNew: false, run: { status: "succeeded" } });
});

it("ends with 1 if it fails, and with 4 if it takes longer than the time", async () => {
  const failed = await run(
    "pay",
    fileOf("FAIL"),
    "--id",
    "failed",
    "--wait",
    "--not-a-duplicate",
    "a test",
    ...BY,
  );
  expect(failed).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/status +failed/) });
  const wait = ["--wait", "--timeout", "10ms", "--not-a-duplicate", "a test"];
  // Its payout cannot be made, however slow this computer is.
  const fault = { kind: "rate-limited", operation: "createPayout", times: 10_000 } as const;
  await rig.simulator.addFault(fault);
  onTestFinished(() => rig.simulator.clearFaults());
  const open = await run("pay", fileOf("open"), "--id", "open", ...wait, ...BY);
  expect(open.exitCode).toBe(4);
});

it("ends with 4 if a file needs approval, and with 0 once each row is paid", async () => {
  const file = join(rig.folder.path, "rows.jsonl");
  const row = (key: string) => ({
    key,
    ...payoutInput,
    payout: { ...payoutInput.payout, payout_reference: key },
  });
  writeFileSync(file, ["row-1", "row-2"].map((key) => JSON.stringify(row(key))).join("\n"));
  const pay = ["pay", file, "--wait", "--yes", "--not-a-duplicate", "a test", ...BY];
  const asks = await run(...pay, "--approve-above", "0.01");
  expect(asks).toMatchObject({ exitCode: 4, stdout: expect.stringMatching(/needs approval/) });
  const [hash = ""] = /[\da-f]{32}$/m.exec(/^ +hash +.*$/m.exec(asks.stdout)?.[0] ?? "") ?? [];
  const [batch = ""] = asks.stdout.split("\n");
  expect(await run("approve", batch, "--hash", hash, "--by", "grace")).toMatchObject({
    exitCode: 0,
  });
  const paid = await run(...pay);
  expect(paid).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/paid +2/) });
});

it("links to the run in the Web UI, and says so if its address is unknown", async () => {
  const link = await run("show", "paid", "--web");
  expect(link.stdout).toMatch(
    /^https:\/\/ui\.example\/namespaces\/default\/workflows\/paid\/[-\da-f]+\n$/,
  );
  const json = await run("show", "paid", "--web", "--json");
  expect(JSON.parse(json.stdout)).toMatchObject({ webUi: link.stdout.trim() });
  expect(await run("show", "nothing", "--web")).toMatchObject({ exitCode: 5 });
  const unknown = await runApp(
    "starter",
    ["show", "paid", "--web"],
    rig.variables({ ...settings, TEMPORAL_UI_URL: "" }),
  );
  expect(unknown).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("TEMPORAL_UI_URL"),
  });
});
