import { makePaymentsClient } from "@durable-payments/api-core";
import { PAYMENT_ACCOUNT } from "@durable-payments/protocol";
import { accountHash } from "@durable-payments/protocol/account";
import { startSimulator } from "@durable-payments/simulator";
import { beneficiary, payout } from "@durable-payments/tools/test-data";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { makeRig } from "./support/rig.ts";
import { jsonOf } from "./support/starter.ts";

// A busy machine takes its time.

const folder = mkdtempSync(join(tmpdir(), "accounts-change-"));
const us = await startSimulator({ settleAfter: 0, clientId: "client-us", apiKey: "key-of-us" });
afterAll(async () => {
  await us.stop();
  rmSync(folder, { recursive: true });
});
const { apiKey, clientId, url: baseUrl } = us;
const own = { apiKey, baseUrl, clientId };
const uk = { ...own, clientId: "client-uk", apiKey: "key-of-uk" };

const PAYMENTS_ACCOUNTS_FILE = join(folder, "accounts.json");
const give = (accounts: object) => writeFileSync(PAYMENTS_ACCOUNTS_FILE, JSON.stringify(accounts));
give({ uk });

const { file, replaceWorker, service, simulator, starter, temporal } = await makeRig(
  { settleAfter: 0 },
  { PAYMENTS_ACCOUNTS_FILE },
);
const env = { ...service, PAYMENTS_ACCOUNTS_FILE };
const { workflow } = temporal.client;

const inputOf = async (payout_reference: string) => {
  const client = makePaymentsClient(own);
  const { beneficiary_id } = await client.createBeneficiary(beneficiary);
  await client.close();
  return { account: "us", beneficiary_id, payout: { ...payout, payout_reference } };
};

/** Starts it as a program does that does not ask which accounts there are. */
const start = (workflowId: string, input: object, hash?: string) =>
  workflow.start("payout", {
    workflowId,
    taskQueue: "payments",
    args: [input],
    memo: { startedBy: "Ada" },
    ...(hash !== undefined && { typedSearchAttributes: [{ key: PAYMENT_ACCOUNT, value: hash }] }),
  });

const paid = async () => (await us.state()).payouts.map(({ payout_reference }) => payout_reference);

it("a run of an account that no worker has fails, and is paid by a retry once they have it", async () => {
  const run = await start("early", await inputOf("early"));
  await expect(run.result()).rejects.toThrow();
  const shown = await starter(["status", "early"], { env });
  expect(shown.stdout.replaceAll(/\s+/g, " ")).toContain(
    "The worker has no account us: it has uk. Give the account to every worker of the task queue, and retry this run",
  );
  const amended = await file("amend.json", { account: "uk" });
  const refused = await starter(
    ["runs", "retry", "early", "--by", "Bob", "--reason", "typo", "--amend", amended],
    { env },
  );
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toContain("account cannot be amended");
  give({ us: own });
  await replaceWorker();
  const retried = await starter(
    ["runs", "retry", "early", "--by", "Bob", "--reason", "it has it now", "--json"],
    { env },
  );
  expect(retried.exitCode).toBe(0);
  expect(await workflow.result("early")).toMatchObject({ outcome: "completed" });
  expect(await paid()).toEqual(["early"]);
  const replayed = await starter(["runs", "replay", "early", "--json"], { env });
  expect(replayed.exitCode).toBe(0);
});

it("a run whose account was taken away from the workers waits, and is paid once they have it again", async () => {
  give({ uk });
  await replaceWorker();
  await start("late", await inputOf("late"), accountHash(own));
  await vi.waitFor(
    async () => {
      const { raw } = await workflow.getHandle("late").describe();
      expect(raw.pendingActivities).toHaveLength(1);
    },
    { timeout: 120_000 },
  );
  const doctor = jsonOf(await starter(["doctor", "--json"], { env }));
  expect(JSON.stringify(doctor)).toContain(`us (${accountHash(own)})`);
  expect(await paid()).toEqual(["early"]);
  give({ us: own });
  await replaceWorker();
  expect(await workflow.result("late")).toMatchObject({ outcome: "completed" });
  expect(await paid()).toEqual(["early", "late"]);
  expect((await simulator.state()).payouts).toEqual([]);
});

it("a name that another client id has by now pays nothing", async () => {
  give({ us: { ...uk, baseUrl: simulator.url, clientId: "someone", apiKey: "else" } });
  await replaceWorker();
  await start("swapped", await inputOf("swapped"), accountHash(own));
  await vi.waitFor(
    async () => {
      const { stdout } = await starter(["status", "swapped", "--json"], { env });
      expect(stdout).toContain("This belongs to the account");
    },
    { timeout: 120_000, interval: 500 },
  );
  expect(await paid()).not.toContain("swapped");
  expect((await simulator.state()).payouts).toEqual([]);
  // Whether it has sent anything only its own journal says: it does not end, and says why.
  const cancel = ["runs", "cancel", "swapped", "--by", "Ada", "--reason", "a mistake"];
  await starter(cancel, { env });
  await vi.waitFor(
    async () => {
      const { raw } = await workflow.getHandle("swapped").describe();
      expect(raw.pendingActivities).toMatchObject([
        {
          activityType: { name: "findForgottenSends" },
          lastFailure: { applicationFailureInfo: { type: "OtherAccount" } },
        },
      ]);
      const { exitCode, stdout } = await starter(["status", "swapped", "--json"], { env });
      expect(exitCode).toBe(0);
      expect(stdout).toContain("This belongs to the account");
    },
    { timeout: 120_000, interval: 500 },
  );
  const before = (await workflow.getHandle("swapped").describe()).historyLength;
  expect((await starter(["status", "swapped", "--json"], { env })).exitCode).toBe(0);
  expect((await workflow.getHandle("swapped").describe()).historyLength).toBe(before);
  await workflow.getHandle("swapped").terminate();
});
