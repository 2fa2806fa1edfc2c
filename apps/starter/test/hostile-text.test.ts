import { beneficiary, options, payout } from "@durable-payments/tools/test-data";
import { expect, it } from "vitest";
import { makeRepairRig } from "./support/repair-rig.ts";
import { jsonOf } from "./support/starter.ts";

const { approvalHash, awaitStage, ended, file, found, start, starter } = await makeRepairRig();

/** Goes back to the amount, writes another one over it; writes to the clipboard; forges a line. */
const commands =
  "Invoice\u001b[1A\u001b[12G40.00    \u001b[1B\u001b]52;c;Y3VybCBldmls\u0007\u202e\u009b2K\u200b\nstate FORGED";

/** What may be sent, and is not what it looks like. */
const reference = "Invoice\u200b    40.00\u200e\u2800state FORGED";
const shown = "Invoice\\u{200b} \\u{20}×4 40.00\\u{200e}\\u{2800}state FORGED";

const HIDDEN = /(?!\n)[\p{Cc}\p{Cf}]/u;

const paying = (payout_reference: string) => ({
  beneficiary,
  payout: { ...payout, amount: "40000.00", payout_reference },
  options: { ...options, approval: { above: "25" } },
});

const show = async (...args: ReadonlyArray<string>) => {
  const { stderr, stdout } = await starter(args);
  expect(`${stdout}${stderr}`).not.toMatch(HIDDEN);
  expect(stdout).not.toMatch(/^\s*state FORGED/m);
  return `${stdout}${stderr}`.replaceAll(/\s+/g, " ");
};

it("a reference with commands to the terminal is refused, and shown as what it is", async () => {
  const name = await file("commands.json", paying(commands));
  const refused = "payout_reference has the control character U+001B: remove it";
  expect(await show("payout", "--file", name, "--id", "refused", "--by", "Ada")).toContain(refused);
  // One that another client of Temporal starts is refused by its worker.
  await start("payout", "commands", paying(commands));
  expect(await ended("commands")).toBe("FAILED");
  await found('WorkflowId = "commands" AND ExecutionStatus = "Failed"');
  expect(await show("status", "commands")).toContain("has the control character U+001B");
  await show("runs", "list");
  await show("runs", "retry", "commands", "--dry-run");
});

it("a reference that is not what it looks like changes nothing that is shown", async () => {
  const input = paying(reference);
  const name = await file("hostile.json", input);
  const started = await starter(["payout", "--file", name, "--id", "hostile", "--by", "Ada"]);
  expect(started).toMatchObject({ exitCode: 0 });
  await awaitStage("hostile", "awaitApproval");
  await found('WorkflowId = "hostile" AND PaymentStage = "awaitApproval"');

  for (const command of ["attention", "status hostile"]) {
    const text = await show(...command.split(" "));
    expect(text).toContain("amount 40000.00 ");
    expect(text.replaceAll(" ", "")).toContain(shown.replaceAll(" ", ""));
  }
  // A program is given what it is.
  const { stdout } = await starter(["attention", "--json"]);
  expect(stdout).not.toMatch(HIDDEN);
  expect(JSON.stringify(jsonOf(await starter(["attention", "--json"])))).toContain(
    JSON.stringify(reference).slice(1, -1),
  );

  const watching = starter(["watch", "hostile"], {
    interruptAt: "Decide, by one of",
  });
  expect((await watching).stderr).not.toMatch(HIDDEN);

  const hash = await approvalHash("hostile");
  const approval = ["approve", "hostile", "--by", "Grace", "--hash", hash];
  await show(...approval, "--reject", "no\u200b\nstate FORGED");
  expect(await ended("hostile")).toBe("FAILED");
  await found('WorkflowId = "hostile" AND ExecutionStatus = "Failed"');
  for (const command of ["status hostile", "runs show hostile", "audit hostile", "runs list"]) {
    await show(...command.split(" "));
  }
  await show("runs", "retry", "hostile", "--dry-run");
  await show("status", `none\u001b[2J`);
});
