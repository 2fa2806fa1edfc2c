import { beneficiary, payout } from "@durable-payments/tools/test-data";
import { temporal as proto } from "@temporalio/proto";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { makeRig } from "./support/rig.ts";
import { jsonOf } from "./support/starter.ts";

const folder = mkdtempSync(join(tmpdir(), "encrypted-"));
afterAll(() => rmSync(folder, { recursive: true }));
const write = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
};
write("k1.key", randomBytes(32).toString("base64"));
write("current", "k1");

const env = { PAYMENTS_KEYRING: folder };
const { awaitStage, file, simulator, starter, temporal } = await makeRig({ settleAfter: 0 }, env);

const input = { beneficiary: { ...beneficiary, nickname: "Marked Nickname" }, payout };
const MARKED = ["Marked Nickname", payout.payout_reference, beneficiary.iban];

const storedOf = async (workflowId: string): Promise<string> => {
  const history = await temporal.client.workflow.getHandle(workflowId).fetchHistory();
  const bytes = proto.api.history.v1.History.encode(history).finish();
  return Buffer.from(bytes).toString("latin1");
};

it("a payout whose history is encrypted is paid, shown, refused a second time, and replayed", async () => {
  const name = await file("encrypted.json", input);
  const pay = ["payout", "--file", name, "--id", "encrypted", "--wait", "--json"];
  const paid = await starter(pay, { env });
  expect(jsonOf(paid)).toMatchObject({ state: "completed" });
  expect(paid.exitCode).toBe(0);
  const stored = await storedOf("encrypted");
  for (const value of MARKED) if (value !== undefined) expect(stored).not.toContain(value);

  const again = await starter(pay, { env });
  expect(again.exitCode).toBe(0);
  expect((await simulator.state()).payouts).toHaveLength(1);
  for (const command of [["status"], ["runs", "show"], ["runs", "replay"]]) {
    const { exitCode, stderr } = await starter([...command, "encrypted", "--json"], { env });
    expect({ command, exitCode, stderr }).toMatchObject({ exitCode: 0 });
  }
  const exported = join(folder, "history.json");
  expect(
    (await starter(["runs", "export", "encrypted", "--file", exported], { env })).exitCode,
  ).toBe(0);
});

it("a question about an encrypted run is answered with the keys, and told without them", async () => {
  const asking = {
    ...input,
    payout: { ...payout, currency: "USD" },
    options: { onRefusal: "ask" },
  };
  const name = await file("asking.json", asking);
  await starter(["payout", "--file", name, "--id", "asking", "--json"], { env });
  await awaitStage("asking", "needsAttention").catch(() => undefined);
  const blind = await starter(["runs", "show", "asking", "--json"]);
  expect(blind.exitCode).not.toBe(70);
  const { stdout } = await starter(["attention", "--json"], { env });
  expect(stdout).toContain("asking");
});
