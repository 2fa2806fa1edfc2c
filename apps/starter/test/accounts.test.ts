import { makePaymentsClient } from "@durable-payments/api-core";
import { openJournal } from "@durable-payments/journal";
import { trackerId } from "@durable-payments/protocol";
import { accountHash, clientHash } from "@durable-payments/protocol/account";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { beneficiary, fields, listWith, payout } from "@durable-payments/tools/test-data";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { makeRig } from "./support/rig.ts";
import { jsonOf } from "./support/starter.ts";

// A busy machine takes its time.

const folder = mkdtempSync(join(tmpdir(), "accounts-test-"));
const start = (name: string) =>
  startSimulator({ settleAfter: 0, clientId: `client-${name}`, apiKey: `key-of-${name}` });
const [eu, us] = await Promise.all([start("eu"), start("us")]);
afterAll(async () => {
  await Promise.all([eu.stop(), us.stop()]);
  rmSync(folder, { recursive: true });
});

const accountsFile = join(folder, "accounts.json");
const settingsOf = ({ apiKey, clientId, url: baseUrl }: Simulator) => ({
  apiKey,
  baseUrl,
  clientId,
});
writeFileSync(
  accountsFile,
  JSON.stringify({
    eu: { ...settingsOf(eu), approveAbove: { EUR: "1000.00" } },
    us: settingsOf(us),
  }),
);
const accounts = { PAYMENTS_ACCOUNTS_FILE: accountsFile };

const { approvalHash, awaitStage, file, service, simulator, starter, temporal } = await makeRig(
  { settleAfter: 0 },
  accounts,
);
const all = { ...service, ...accounts };

const beneficiaryOf = new Map<Simulator, string>();
beforeAll(async () => {
  for (const each of [eu, us]) {
    const client = makePaymentsClient(settingsOf(each));
    beneficiaryOf.set(each, (await client.createBeneficiary(beneficiary)).beneficiary_id);
    await client.close();
  }
});

const paidBy = async (each: Simulator) =>
  (await each.state()).payouts.map(({ amount, payout_reference }) => ({
    amount,
    payout_reference,
  }));

const hashOf = (each: Simulator): string => accountHash(settingsOf(each));

describe("of several accounts", () => {
  it("the one that a payout file names pays it, and lists say which", async () => {
    const input = {
      account: "eu",
      beneficiary_id: beneficiaryOf.get(eu),
      payout: { ...payout, payout_reference: "one" },
    };
    const paid = await starter(
      ["payout", "--file", await file("eu.json", input), "--id", "inv-1", "--wait", "--json"],
      { env: all },
    );
    expect(jsonOf(paid)).toMatchObject({ workflowId: "inv-1", state: "completed" });
    expect(await paidBy(eu)).toEqual([{ amount: "250.00", payout_reference: "one" }]);
    expect([...(await paidBy(us)), ...(await paidBy(simulator))]).toEqual([]);
    // It was pinned to its account before its first task, as cheaply as a run without a name.
    const history = await temporal.client.workflow.getHandle("inv-1").fetchHistory();
    expect(history.events?.filter((event) => event.markerRecordedEventAttributes)).toEqual([]);
    await vi.waitFor(
      async () => {
        const { stdout } = await starter(["runs", "list"], { env: all });
        expect(stdout.replaceAll(/\s+/g, " ")).toContain("250.00 EUR to");
        expect(stdout).toContain("from eu");
      },
      { timeout: 120_000 },
    );
    // The same id with another account is another payment.
    const other = await file("us.json", { ...input, account: "us" });
    const refused = await starter(["payout", "--file", other, "--id", "inv-1"], { env: all });
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain("belongs to a run that was started with another input");
  });

  it("one that no worker has is refused before anything is started", async () => {
    const input = { account: "uk", beneficiary_id: "b-1", payout };
    const called = await starter(
      ["payout", "--file", await file("uk.json", input), "--id", "inv-uk"],
      { env: all },
    );
    expect(called.exitCode).toBe(2);
    expect(called.stderr.replaceAll(/\s+/g, " ")).toContain(
      'No worker of task queue "payments" has an account uk. Nothing was started.',
    );
    await expect(temporal.client.workflow.getHandle("inv-uk").describe()).rejects.toThrow();
  });

  it("the account of a file's rows pays them all, by its own limit", async () => {
    const id = beneficiaryOf.get(eu) ?? "";
    const text = [
      "key,beneficiary_id,currency,amount,payout_reason,payout_reference,payment_date,is_payer,account",
      `row-1,${id},EUR,600.00,Goods,batch,2026-12-01,Y,eu`,
      `row-2,${id},EUR,700.00,Goods,batch,2026-12-01,Y,eu`,
    ].join("\n");
    const csv = await file("rows.csv", text);
    const started = await starter(["payouts", "import", csv, "--by", "Ada", "--json"], {
      env: all,
    });
    expect(started.exitCode).toBe(0);
    const batch = String(jsonOf(started)["workflowId"]);
    await awaitStage(batch, "awaitApproval");
    const { stdout } = await starter(["attention", "--json"], { env: all });
    expect(stdout).toContain('"account":"eu"');
    const approved = await starter(
      ["approve", batch, "--by", "Grace", "--hash", await approvalHash(batch)],
      { env: all },
    );
    expect(approved.exitCode).toBe(0);
    const result = join(folder, "result.csv");
    const ended = await starter(
      ["payouts", "status", batch, "--wait", "--result", result, "--json"],
      { env: all },
    );
    expect(jsonOf(ended)).toMatchObject({ account: "eu", runs: { completed: 2 } });
    const paid = (await paidBy(eu)).filter((made) => made.payout_reference === "batch");
    expect(paid.map(({ amount }) => amount).toSorted()).toEqual(["600.00", "700.00"]);
    expect([...(await paidBy(us)), ...(await paidBy(simulator))]).toEqual([]);
  });

  it("the doctor checks each, and says what is not known here", async () => {
    const called = await starter(["doctor", "--json"], { env: all });
    expect(jsonOf(called)["checks"]).toEqual(
      listWith(
        fields({
          name: "account",
          status: "ok",
          detail: `${hashOf(simulator)}, eu (${hashOf(eu)}), us (${hashOf(us)}), as these settings have it`,
        }),
      ),
    );
    for (const name of ["eu: tracker", "us: sign-in", "eu: worker, activity tasks"]) {
      expect(jsonOf(called)["checks"]).toEqual(listWith(fields({ name, status: "ok" })));
    }
    expect(called.exitCode).toBe(0);
    const unknown = jsonOf(await starter(["doctor", "--json"], { env: service }));
    expect(unknown["checks"]).toEqual(listWith(fields({ name: "account", status: "failed" })));
  });

  it("recover compares what each has sent, and asks for nothing else", async () => {
    const recover = async (since: string) => {
      const called = await starter(
        ["recover", "--since", since, "--by", "Ada", "--yes", "--json"],
        {
          env: all,
        },
      );
      await starter(["resume", "--by", "Ada"], { env: all });
      return jsonOf(called);
    };
    expect(await recover("1h")).toMatchObject({ lost: [], unrecorded: [], isReleased: true });
    // A run of one of them that Temporal has lost keeps the sends of all paused.
    const client = clientHash({ clientId: us.clientId });
    const place = join(process.env["XDG_STATE_HOME"] ?? "", "durable-payments", `${client}.sqlite`);
    const journal = await openJournal({ _tag: "File", file: place }, client);
    await journal.begin({
      workflowId: "payout/lost",
      step: "createPayout",
      number: 1,
      operation: "createPayout",
      runId: "00000000-0000-4000-8000-000000000000",
      payloadHash: "hash",
    });
    await journal.close();
    const found = await recover("1h");
    expect(found).toMatchObject({ isClear: false, isReleased: false });
    expect(found["lost"]).toMatchObject([{ workflowId: "payout/lost", reconciliation: "unclear" }]);
  });

  it("each has its tracker, which is named after it", async () => {
    for (const [name, each] of Object.entries({ eu, us })) {
      const tracker = temporal.client.workflow.getHandle(trackerId(hashOf(each), name));
      expect((await tracker.describe()).status.name).toBe("RUNNING");
    }
  });
});
