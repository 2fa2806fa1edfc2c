import {
  beneficiary,
  card,
  cardholder,
  csv,
  makeRows,
  options,
  payout,
} from "@durable-payments/tools/test-data";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { makeRig } from "./support/rig.ts";
import { jsonOf } from "./support/starter.ts";

const folder = mkdtempSync(join(tmpdir(), "encrypted-"));
afterAll(() => rmSync(folder, { recursive: true }));
const write = (name: string, content: string): void =>
  writeFileSync(join(folder, name), content, { mode: 0o600 });
const addKey = (id: string) => write(`${id}.key`, randomBytes(32).toString("base64"));
addKey("k1");
write("current", "k1");

/** Values that stand nowhere else: whatever stores them in plain text holds these bytes. */
const MARKED = {
  nickname: "Nickname Quetzal",
  company_name: "Quetzal Handels GmbH",
  account_holder: "Holder Quetzal",
  iban: "DE02120300000000202051",
  email: "quetzal@example.org",
  address: "Quetzalweg 77",
  payout_reference: "Reference Quetzal 8841",
  first_name: "Quetzalina",
  last_name: "Quetzalsson",
  date_birth: "1971-03-29",
  phone_number: "+4915227381946",
} as const;
const marked = <A extends object>(value: A): A =>
  // Texts take the place of texts.
  Object.fromEntries(
    Object.entries(value).map(([name, given]) => [
      name,
      name in MARKED ? Reflect.get(MARKED, name) : given,
    ]),
  ) as A;

const PATIENCE = { timeout: 120_000, interval: 100 };
const markedRows = makeRows("batch", 3, () => ({
  beneficiary: marked(beneficiary),
  payout: marked(payout),
}));

const KEYS = { PAYMENTS_KEYRING: folder };
const database = join(folder, "temporal.db");
const { file, found, simulator, starter, temporal } = await makeRig({ settleAfter: 0 }, KEYS, {
  dbFilename: database,
});

const call = (...args: ReadonlyArray<string>) => starter([...args, "--json"], { env: KEYS });
const blind = (...args: ReadonlyArray<string>) => starter([...args, "--json"]);

const paying = (more: object = {}) => ({
  beneficiary: marked(beneficiary),
  payout: { ...marked(payout), ...more },
  options,
});

/** Every file of the server's database, as it is on disk. */
const stored = (): Buffer =>
  Buffer.concat(
    readdirSync(folder)
      .filter((name) => name.startsWith("temporal.db"))
      .map((name) => readFileSync(join(folder, name))),
  );

const expectNothingMarked = (): void => {
  const bytes = stored();
  const shown = Object.entries(MARKED).filter(([, value]) => bytes.includes(value));
  expect(shown).toEqual([]);
  // The database is read as it is: what Temporal needs in plain text stands there.
  expect(bytes.includes("encryption-key-id")).toBe(true);
};

describe("with a keyring", () => {
  it("a payout is paid once, shown, exported and replayed", async () => {
    const name = await file("payout.json", paying());
    const pay = ["payout", "--file", name, "--id", "pays", "--wait"];
    const paid = await call(...pay);
    expect({ ...paid, ...jsonOf(paid) }).toMatchObject({ exitCode: 0, state: "completed" });
    expect(jsonOf(await call(...pay))).toMatchObject({ state: "completed" });
    expect((await simulator.state()).payouts).toHaveLength(1);

    const history = join(folder, "history.json");
    for (const args of [
      ["status", "pays"],
      ["runs", "show", "pays"],
      ["runs", "list"],
      ["audit", "pays"],
      ["runs", "export", "pays", "--file", history],
      ["runs", "replay", "pays"],
      ["runs", "replay", "--file", history],
    ]) {
      const { exitCode, stderr } = await call(...args);
      expect({ args, exitCode, stderr }).toMatchObject({ args, exitCode: 0 });
    }
    expect(jsonOf(await call("runs", "replay", "--file", history))).toMatchObject({
      runs: [{ deterministic: true }],
    });
    expect(readFileSync(history, "utf8")).not.toContain(
      Buffer.from(MARKED.iban).toString("base64").slice(4, -4),
    );
    expectNothingMarked();
  });

  it("another input under the same id is refused", async () => {
    const name = await file("other.json", paying({ amount: "251.00" }));
    const { exitCode, stdout } = await call("payout", "--file", name, "--id", "pays");
    expect(exitCode).toBe(2);
    expect(stdout).toContain("another input");
  });

  it("what was refused is asked, amended and paid", async () => {
    await simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    const name = await file("refused.json", paying({ amount: "77.00" }));
    await call("payout", "--file", name, "--id", "refused", "--wait");
    const listed = jsonOf(await call("runs", "list", "--failed"));
    expect(JSON.stringify(listed)).toContain("Refused on demand");
    const retried = await call("runs", "retry", "refused", "--by", "Bob");
    expect(retried).toMatchObject({ exitCode: 0 });
    expectNothingMarked();
  });

  it("a cardholder is onboarded", async () => {
    const name = await file("onboard.json", {
      cardholder: marked(cardholder),
      card,
      options,
    });
    const onboarded = await call("onboard", "--file", name, "--id", "onboards", "--wait");
    expect({ exitCode: onboarded.exitCode, stdout: onboarded.stdout }).toMatchObject({
      exitCode: 0,
    });
    expectNothingMarked();
  });

  it("a batch is approved and paid", async () => {
    const name = await file("rows.csv", csv(markedRows));
    const imported = await call(
      "payouts",
      "import",
      name,
      "--by",
      "Ada",
      "--approve-above",
      "1.00",
    );
    expect({ exitCode: imported.exitCode, stdout: imported.stdout }).toMatchObject({ exitCode: 0 });
    const waiting = await vi.waitFor(async () => {
      const { runs } = jsonOf(await call("attention"));
      // What the command prints of a batch that waits.
      const [batch] = runs as ReadonlyArray<{
        readonly workflowId: string;
        readonly approval: { readonly hash: string };
      }>;
      if (batch === undefined) throw new Error("Nobody is asked");
      return batch;
    }, PATIENCE);
    const { hash } = waiting.approval;
    const approved = await call("approve", waiting.workflowId, "--by", "Eve", "--hash", hash);
    expect(approved.exitCode).toBe(0);
    await found('WorkflowType = "payout" AND ExecutionStatus = "Completed"', 5);
    expectNothingMarked();
  });

  it("nobody settles what was sent where the key is missing by which it could be read", async () => {
    await simulator.addFault({ kind: "slow", operation: "createPayout", milliseconds: 15_000 });
    const before = (await simulator.state()).requests["createPayout"] ?? 0;
    const name = await file("doubt.json", paying({ amount: "19.00" }));
    await call("payout", "--file", name, "--id", "doubt");
    await vi.waitFor(async () => {
      const { requests } = await simulator.state();
      expect(requests["createPayout"]).toBe(before + 1);
    }, PATIENCE);
    await call("runs", "terminate", "doubt", "--reason", "stuck", "--by", "Ada");
    const settle = [
      "settle",
      "doubt",
      "--by",
      "Ada",
      "--reason",
      "none listed",
      "--not-carried-out",
    ];
    renameSync(join(folder, "k1.key"), join(folder, "k1.gone"));
    addKey("k0");
    write("current", "k0");
    const settled = await call(...settle);
    renameSync(join(folder, "k1.gone"), join(folder, "k1.key"));
    write("current", "k1");
    expect(settled.exitCode).toBe(2);
    expect(settled.stdout).toContain("under the key k1");
  });

  it("a file imported again without the key of its batch names the key", async () => {
    const name = await file("rows.csv", csv(markedRows));
    renameSync(join(folder, "k1.key"), join(folder, "k1.gone"));
    write("current", "k0");
    const { exitCode, stdout } = await call("payouts", "import", name, "--by", "Ada");
    renameSync(join(folder, "k1.gone"), join(folder, "k1.key"));
    write("current", "k1");
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 2 });
    expect(stdout).toContain("key k1");
  });

  it("a key is replaced, and without the old one it is told which is missing", async () => {
    addKey("k2");
    write("current", "k2");
    const name = await file("later.json", paying({ amount: "12.00" }));
    const paid = await call("payout", "--file", name, "--id", "later", "--wait");
    expect(paid.exitCode).toBe(0);
    renameSync(join(folder, "k1.key"), join(folder, "k1.gone"));
    const shown = await call("runs", "show", "pays");
    expect({ exitCode: shown.exitCode, stderr: shown.stderr }).toMatchObject({ exitCode: 2 });
    expect(shown.stdout).toContain("under the key k1");
    const listed = await call("runs", "list");
    expect(listed.exitCode).toBe(0);
    const of = (id: string) =>
      (jsonOf(listed)["runs"] as ReadonlyArray<Record<string, unknown>>).find(
        ({ workflowId }) => workflowId === id,
      );
    expect(of("pays")).toMatchObject({
      payment: null,
      unreadable: expect.stringContaining("key k1") as unknown,
    });
    expect(of("later")).not.toHaveProperty("unreadable");
    renameSync(join(folder, "k1.gone"), join(folder, "k1.key"));
    expect((await call("runs", "show", "pays")).exitCode).toBe(0);
    expect((await call("runs", "show", "later")).exitCode).toBe(0);
  });
});

it.each([["status"], ["runs", "show"], ["runs", "replay"], ["runs", "retry"]])(
  "without a keyring %s %s says that one is needed",
  async (...command) => {
    const more = command.includes("retry") ? ["--by", "Bob"] : [];
    const { exitCode, stderr, stdout } = await blind(...command, "refused", ...more);
    expect({ exitCode, stdout, stderr }).not.toMatchObject({ exitCode: 70 });
    expect(`${stdout}${stderr}`).not.toContain("Quetzal");
  },
);

it.each([
  ["payout", "--file"],
  ["payouts", "import"],
] as const)(
  "without a keyring nothing is written that would stand in plain text: %s",
  async (...command) => {
    const isImport = command[0] === "payouts";
    const row = { ...paying({ amount: "13.00" }), key: "plain-1" };
    const name = isImport
      ? await file("plain.jsonl", `${JSON.stringify(row)}\n`)
      : await file("plain.json", paying({ amount: "13.00" }));
    const { exitCode, stdout } = await blind(
      ...command,
      name,
      ...(isImport ? [] : ["--id", "plain"]),
    );
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 2 });
    expect(stdout).toContain("PAYMENTS_KEYRING");
    expectNothingMarked();
  },
);

it("what another client has started in plain text is worked on", async () => {
  await temporal.client.workflow.start("payout", {
    workflowId: "plain",
    taskQueue: "payments",
    args: [paying({ amount: "13.00" })],
  });
  await found('WorkflowId = "plain" AND ExecutionStatus = "Completed"');
  // So that the tests before it can find something.
  expect(stored().includes(MARKED.iban)).toBe(true);
});

it("a keyring that cannot be read is told before anything is asked", async () => {
  const { exitCode, stdout } = await starter(["status", "pays", "--json"], {
    env: { PAYMENTS_KEYRING: join(folder, "none") },
  });
  expect(exitCode).toBe(3);
  expect(stdout).toContain("The keys cannot be read");
});
