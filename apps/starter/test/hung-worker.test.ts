import { beneficiary, csv, makeRows, options, payout } from "@durable-payments/tools/test-data";
import { expect, it } from "vitest";
import { makeRepairRig } from "./support/repair-rig.ts";
import { jsonOf } from "./support/starter.ts";

const { awaitStage, file, found, simulator, start, starter, stopped } = await makeRepairRig();

/** What Temporal's gRPC, the client of the service and our own types call things. */
const RAW = /\b\d+ [A-Z]+_[A-Z_]+|UND_ERR|_tag|No registered handler|\bat .*\.[mt]s:\d+|, \d+:$/m;

const large = { ...options, approval: { above: "25" } };

it("no read waits long for a worker that hangs, and each says so in words", async () => {
  await start("payout", "asking", {
    beneficiary,
    payout: { ...payout, amount: "30.00" },
    options: large,
  });
  await awaitStage("asking", "awaitApproval");
  await simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  await start("payout", "refused", { beneficiary, payout, options });
  const rows = await file("rows.csv", csv(makeRows("hung", 2)));
  const imported = await starter(["payouts", "import", rows, "--wait", "--json"]);
  const { workflowId: batch } = JSON.parse(imported.stdout) as { readonly workflowId: string };
  await found('WorkflowId = "refused" AND ExecutionStatus = "Failed"');
  await found('WorkflowId = "asking" AND PaymentStage = "awaitApproval"');
  // What a run takes that is of another kind.
  const other = await starter(["payouts", "pause", "asking", "--by", "Ada"]);
  expect(other.exitCode).toBe(2);
  expect(other.stderr).toContain("The run asking takes no such decision: it is of another kind.");
  expect(other.stderr).not.toMatch(RAW);

  await stopped(async () => {
    const reads = [
      ["status", "asking"],
      ["status", "refused"],
      ["runs", "show", "asking"],
      ["runs", "show", "refused"],
      ["runs", "list"],
      ["audit", "asking"],
      ["attention"],
      ["payouts", "status", batch],
    ];
    for (const args of reads) {
      const began = performance.now();
      const { stderr, stdout } = await starter(args);
      const took = performance.now() - began;
      // Less than three seconds where nothing else runs: two are waited for the worker.
      expect({ args, isQuick: took < 4_500, took }).toMatchObject({ isQuick: true });
      expect(`${stdout}${stderr}`).not.toMatch(RAW);
      expect(`${stdout}${stderr}`.trim()).not.toBe("");
    }
    const began = performance.now();
    const watched = await starter(["watch", "asking"], { interruptAt: "answers within 2 s" });
    expect(performance.now() - began).toBeLessThan(6_000);
    expect(watched.stderr).toContain("it is gone, or busy");

    // Whatever has to be asked of a worker, or given to a run by one.
    const patch = await file("patch.json", { payout: { amount: "20.00" } });
    const answer = ["--by", "Bob", "--question", "1-9f3c07aa"];
    const needing = [
      ["approve", "asking", "--by", "Bob"],
      ["approve", "asking", "--by", "Bob", "--hash", "1".repeat(12)],
      ["resolve", "asking", "--by", "Bob", "--resend"],
      ["resolve", "asking", ...answer, "--resend"],
      ["resolve", "asking", ...answer, "--amend", patch],
      ["payouts", "pause", "asking", "--by", "Bob"],
      ["payouts", "resume", "asking", "--by", "Bob"],
      ["payouts", "cancel", "asking", "--by", "Bob"],
    ];
    const refusals = await Promise.all(
      needing.map(async (args) => {
        const called = await starter([...args, "--json"]);
        expect(called.stdout).not.toMatch(RAW);
        return { args, exitCode: called.exitCode, error: jsonOf(called)["error"] };
      }),
    );
    expect(refusals).toMatchObject(
      needing.map((args) => ({ args, exitCode: 3, error: { type: "NoWorker" } })),
    );

    const inOneLine = (text: string) => text.replaceAll(/\s+/g, " ");
    const before = await starter(["runs", "show", "asking"]);
    expect(inOneLine(before.stdout)).toContain("End it: it keeps what it has done:");
    const cancel = ["runs", "cancel", "asking", "--by", "Olga", "--reason", "wrong customer"];
    const asked = await starter(cancel);
    expect(asked.exitCode).toBe(0);
    expect(inOneLine(asked.stdout)).toMatch(
      /It ends when what it is sending, if anything, is answered, and keeps what it has done\. It does not end before a worker takes it up\. No worker on task queue/,
    );
    for (const args of [
      ["status", "asking"],
      ["runs", "show", "asking"],
    ]) {
      const { stdout } = await starter(args);
      expect(stdout).toMatch(/asked to end +\S+ \S+ UTC by Olga: wrong\s+customer/);
      expect(stdout).not.toContain("runs cancel");
    }
  });
});
