import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { accountHash } from "@durable-payments/protocol/account";
import {
  advance,
  type Call,
  type Ledger,
  openLedger,
  readLedgerPlace,
} from "@durable-payments/ledger";
import type { LimitsView } from "@durable-payments/control/payments";
import { runCli } from "./support/run-cli.ts";

// What only the ledger decides works while Temporal is down: nothing listens at port 9.
const folder = mkdtempSync(join(tmpdir(), "starter-ledger-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, "ledger.sqlite");

beforeEach(() => {
  for (const name of Object.keys(process.env)) {
    if (/^(?:TEMPORAL|PAYMENTS)_/.test(name)) vi.stubEnv(name, undefined);
  }
  vi.stubEnv("TEMPORAL_ADDRESS", "127.0.0.1:9");
  vi.stubEnv("PAYMENTS_CLIENT_ID", "client");
  vi.stubEnv("PAYMENTS_LEDGER", `sqlite:${file}`);
  return () => vi.unstubAllEnvs();
});

/** Runs SQL on the ledger's file. */
const run = (sql: string) => {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
};

it("the overview ends with an error if the ledger cannot be read, and is never fine while Temporal is away", async () => {
  vi.stubEnv("PAYMENTS_LEDGER", `sqlite:${join(folder, "overview.sqlite")}`);
  const unread = await runCli();
  expect(unread).toMatchObject({ code: 3, stdout: "", stderr: expect.stringMatching(/ledger/) });
  expect(await runCli("ledger", "migrate")).toMatchObject({ code: 0 });
  const read = await runCli();
  expect(read).toMatchObject({ code: 1, stdout: expect.stringMatching(/^\d checks? failed/) });
  const seen = JSON.parse((await runCli("--json")).stdout);
  expect(seen).toMatchObject({ inbox: [], failed: 0, underWay: { payouts: 0 } });
}, 30_000);

it("backs up, migrates and prunes the ledger, and creates it only if it is asked to migrate", async () => {
  const copy = join(folder, "copy.sqlite");
  const backup = ["ledger", "backup", copy];
  const pruning = ["--before", "400d", "--by", "ada", "--reason", "old"];
  const prune = ["ledger", "prune", ...pruning, "--json"];
  for (const command of [backup, prune]) {
    expect(await runCli(...command)).toMatchObject({ code: 3 });
    expect(() => statSync(file)).toThrow(/ENOENT/);
  }

  const migrate = ["ledger", "migrate", "--json"];
  const created = await runCli(...migrate);
  expect(created).toMatchObject({ code: 0, stderr: expect.stringContaining("version 1") });
  expect(JSON.parse(created.stdout)).toEqual({ place: file, migrations: [1, 2] });
  expect(JSON.parse((await runCli(...migrate)).stdout)).toMatchObject({ migrations: [] });
  expect((await runCli("ledger", "migrate")).stdout).toContain("needs no migration");

  expect(await runCli(...backup)).toMatchObject({ code: 0 });
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  writeFileSync(copy, "of yesterday");
  const again = await runCli(...backup);
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("exists") });
  expect(statSync(copy).size).toBe("of yesterday".length);

  const pruned = await runCli(...prune);
  expect(JSON.parse(pruned.stdout)).toEqual({ workflowIds: 0 });
  // The command of docs/retention.md.
  const page = readFileSync(new URL("../../../docs/retention.md", import.meta.url), "utf8");
  const [, documented = ""] = /^durable-payments (ledger prune .*)$/m.exec(page) ?? [];
  expect(await runCli(...documented.split(" "))).toMatchObject({ code: 0 });

  // As the release before left it.
  run("DELETE FROM schema_version WHERE version = 2");
  const older = await runCli(...prune);
  expect(older.code).toBe(3);
  expect(older.stdout).toContain("run ledger migrate, or start a worker of this release");
  run("INSERT INTO schema_version (version, least) VALUES (3, 3)");
  const newer = await runCli(...migrate);
  expect(newer.code).toBe(3);
  expect(newer.stdout).toContain("run the newer release");
});

const CALL: Omit<Call, "name" | "ownerId" | "rootId"> = {
  operation: "createPayout",
  request: {
    hash: "h",
    terms: "t",
    amount: "250.00",
    currency: "EUR",
    payee: "b-1",
    reference: null,
    paymentDate: null,
    facts: {},
  },
  runId: "run-1",
  testimony: { is: "none" },
  mode: "send",
  mayAmend: false,
  approveAbove: "100.00",
  payee: { mark: "mark", shown: "Example Supplies GmbH" },
};

/** Writes a payout that waits for its approval, or for an answer about its outcome. */
const holdForApproval = async (ledger: Ledger, workflowId: string, isAsking = false) => {
  const name = { account: "account", workflowId, step: "createPayout" };
  await ledger.recordStart(
    {
      account: name.account,
      workflowId,
      runId: null,
      type: "payout",
      batch: null,
      batchRow: null,
      ...CALL.request,
    },
    { by: "ada", how: "--by", value: { type: "payout", content: "c" } },
  );
  await ledger.transact(name, (look) => {
    const event = {
      is: "called",
      who: "test",
      call: { ...CALL, name, ownerId: workflowId, rootId: workflowId },
    } as const;
    const { entries, row } = advance(look, event, {
      repeat: "none",
      isListed: true,
      whenLost: "ask",
      keyLifetimeMs: 1_000,
      listLagMs: 1_000,
      requestTimeoutMs: 1_000,
    });
    if (!row?.question) throw new Error("It is not held.");
    const question = { ...row.question, id: "q1", kind: "outcome" } as const;
    return { entries, row: isAsking ? { ...row, state: "asking", question } : row };
  });
};

it("a mistyped id, group or step does not look as if nothing was there", async () => {
  const place = `sqlite:${join(folder, "failed.sqlite")}`;
  vi.stubEnv("PAYMENTS_LEDGER", place);
  const ledger = await openLedger(readLedgerPlace(place, ""), { isMigrated: true });
  const of = { account: "account", workflowId: "invoice-1", runId: "run-1", type: "payout" };
  await ledger.recordStart(
    { ...of, batch: "payouts/1", batchRow: 1, ...CALL.request },
    { by: "ada", how: "--by", value: { type: "payout", content: "c" } },
  );
  const end = { workflowId: "invoice-1", runId: "run-1", endState: "failed", endedAt: 1 } as const;
  const why = { endType: "Refused", endReason: "no", endStep: "createPayout" };
  await ledger.recordEnds([{ ...end, ...why }]);
  const batch = { account: "account", file: "f", contentHash: "c", rows: 1, chunks: 1 } as const;
  const kept = { details: "{}", createdBy: "ada", createdAt: 0, approvedBy: null } as const;
  for (const [id, type] of [
    ["payouts/1", "payout"],
    ["repairs/1", "repair"],
  ] as const)
    await ledger.saveBatch(id, () => ({
      batch: { ...batch, ...kept, id, type, state: "finished" },
    }));
  await ledger.close();

  // A command that leaves out a condition would retry other runs.
  const dryRun = /--dry-run (?<others>.*)--group payout-[0-9a-f]+ --by NAME/;
  const advised = async (...flags: ReadonlyArray<string>) =>
    dryRun.exec((await runCli("failed", ...flags)).stdout)?.groups?.["others"];
  expect(await advised()).toBe("");
  expect(await advised("--batch", "payouts/1")).toBe("--batch payouts/1 ");
  expect(await advised("--since", "400000h")).toBeUndefined();

  const retry = (...flags: ReadonlyArray<string>) =>
    ["retry", "--all-failed", "--dry-run", "--by", "ada", ...flags] as const;
  for (const [code, message, ...command] of [
    [5, "payout-00000000", "failed", "payout-00000000"],
    [5, "payout-00000000", ...retry("--group", "payout-00000000")],
    [5, "no batch payouts/2", ...retry("--batch", "payouts/2")],
    [5, "no repair repairs/2", ...retry("--repair", "repairs/2")],
    [5, "no repair repairs/2", "failed", "--repair", "repairs/2"],
    [5, "no batch payouts/2", "list", "--batch", "payouts/2"],
    [5, "no repair repairs/2", "list", "--repair", "repairs/2"],
    [5, "payout-00000000", "list", "--group", "payout-00000000"],
    [5, "no batch payouts/2", "list", "--batch", "payouts/2", "--group-by", "day"],
    [5, "payouts/1 is a file, not a repair", ...retry("--repair", "payouts/1")],
    [5, "repairs/1 is a repair, not a batch", ...retry("--batch", "repairs/1")],
    [
      2,
      "require --all-failed",
      "retry",
      "invoice-1",
      "--amend",
      "a.csv",
      "--reason",
      "r",
      "--by",
      "b",
    ],
  ] as const)
    expect(await runCli(...command)).toMatchObject({
      code,
      stderr: expect.stringContaining(message),
    });
  for (const command of [retry("--step", "createpayout"), ["failed", "--step", "createpayout"]])
    expect(await runCli(...command)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Failed runs have these steps: createPayout"),
    });
  expect(await runCli(...retry("--batch", "payouts/1"))).toMatchObject({ code: 0 });
  // As with --yes, without a question.
  const none = ["retry", "--all-failed", "--step", "createpayout", "--by", "ada"] as const;
  expect(await runCli(...none)).toMatchObject({ code: 6 });
});

/** Returns what a path of jq in the docs, such as `.inbox[0].hash`, finds in the JSON answer of a command. */
const documentedValue = async (part: "inbox" | "listing", ...command: ReadonlyArray<string>) => {
  const document = fileURLToPath(new URL("../../../docs/answer-and-approve.md", import.meta.url));
  const page = readFileSync(document, "utf8");
  const path = [...page.matchAll(/jq -r '\.([^']+)'/g)]
    .map(([, found = ""]) => found)
    .find((found) => found.startsWith(part));
  let value: unknown = JSON.parse((await runCli(...command, "--json")).stdout);
  for (const name of path?.match(/\w+/g) ?? [])
    value = (value as Readonly<Record<string, unknown>>)[name];
  return value;
};

it("people decide with the ledger alone: no key of the service, no account, no Temporal", async () => {
  const place = `sqlite:${join(folder, "decisions.sqlite")}`;
  vi.stubEnv("PAYMENTS_CLIENT_ID", undefined);
  vi.stubEnv("PAYMENTS_LEDGER", place);
  const ledger = await openLedger(readLedgerPlace(place, ""), { isMigrated: true });
  for (const workflowId of ["approved", "rejected", "cancelled"])
    await holdForApproval(ledger, workflowId);
  await holdForApproval(ledger, "asked", true);
  await ledger.close();

  const grace = ["--by", "grace", "--reason", "as agreed"];
  const approve = ["approve", "approved", ...grace];
  // A script names what somebody has read.
  const unseen = await runCli(...approve);
  expect(unseen).toMatchObject({ code: 2, stdout: "" });
  expect(unseen.stderr).toMatch(/--hash HASH[^]*250\.00 EUR[^]*ada started payout/);
  expect(await runCli(...approve, "--hash", "0".repeat(32))).toMatchObject({ code: 6 });
  const { items } = JSON.parse((await runCli("inbox", "--json")).stdout) as {
    readonly items: ReadonlyArray<{ readonly workflowId: string; readonly hash: string }>;
  };
  const hash = items.find(({ workflowId }) => workflowId === "approved")?.hash ?? "";
  expect(await documentedValue("inbox", "show", "approved")).toBe(hash);
  const none = await runCli(...approve, "--hash", "null");
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('"null" is not a hash') });
  expect((await runCli("show", "approved")).stdout).toContain(
    `durable-payments approve approved --hash ${hash} --by NAME`,
  );
  expect(await runCli(...approve.with(3, "ada"), "--hash", hash)).toMatchObject({ code: 6 });

  expect((await runCli("show", "asked")).stdout).toContain(
    "durable-payments answer asked --for q1 --choose end --reason WHY --by NAME",
  );
  for (const [id, question, code, why] of [
    ["asked", "q0", 6, "question q0 is not open"],
    ["approved", "q1", 6, "approved has no open question"],
    ["nosuch", "q1", 5, "no run or batch nosuch"],
  ] as const) {
    const wrong = await runCli("answer", id, "--for", question, "--choose", "end", ...grace);
    expect(wrong).toMatchObject({ code, stderr: expect.stringContaining(why) });
  }

  for (const [command, said] of [
    [
      [...approve, "--hash", hash],
      "approved by grace. An open run continues within seconds; only a retry continues an ended one.",
    ],
    [
      ["reject", "rejected", ...grace],
      // Nothing continues a payment that nobody may send.
      "rejected: rejected by grace. Next",
    ],
    [
      ["answer", "asked", "--for", "q1", "--choose", "resend", ...grace],
      "An open run continues within seconds; only a retry continues an ended one.",
    ],
    [["cancel", "cancelled", "--yes", ...grace], "Temporal did not cancel the run"],
    [["pause", "--yes", ...grace], "are paused by grace"],
    [["inbox"], "Nothing is waiting for a person."],
    [["show", "asked"], "answered; its run continues when Temporal is back"],
    [["show", "approved"], "approved by grace; its run continues when Temporal is back"],
    [["resume", ...grace], "What waited continues within seconds."],
  ] as const) {
    const { code, stderr, stdout } = await runCli(...command);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(said);
  }

  // The account is known by its address and client id: its key is not needed.
  vi.stubEnv("PAYMENTS_CLIENT_ID", "client");
  vi.stubEnv("PAYMENTS_BASE_URL", "https://payments.example");
  const set = ["limits", "set", ...grace];
  expect(await runCli(...set, "--max", "EUR=100.00")).toMatchObject({ code: 0 });
  const looser = await runCli(...set, "--max", "EUR=200.00,USD=5", "--json");
  const { account, pending } = JSON.parse(looser.stdout) as LimitsView;
  const [id, asked] = [`limits/${account}`, String(pending?.sequence)];
  const approveLimits = ["approve", id, "--by", "ada"];
  expect(await runCli(...approveLimits)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/grace asks for[^]*Then: at most 200\.00 EUR, 5 USD/),
  });
  const other = await runCli(...approveLimits, "--hash", "0".repeat(32));
  expect(other).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("changed since they were shown"),
  });
  const limited = await runCli(...approveLimits, "--hash", asked);
  expect(limited.stdout).toContain(`${id}: approved by ada.`);
  expect((await runCli("limits", "show")).stdout).toContain(
    "at most 200.00 EUR, 5 USD, no other currency",
  );
  vi.stubEnv("PAYMENTS_CLIENT_ID", undefined);
  vi.stubEnv("PAYMENTS_BASE_URL", undefined);

  const doctor = await runCli("doctor");
  expect(doctor.stdout).toMatch(/not checked +service/);
  expect(doctor.stdout).not.toContain("PAYMENTS_API_KEY");
});

it("a file is approved by the hash of the rows that were shown, and its state is the exit code", async () => {
  const place = `sqlite:${join(folder, "file.sqlite")}`;
  vi.stubEnv("PAYMENTS_CLIENT_ID", undefined);
  vi.stubEnv("PAYMENTS_LEDGER", place);
  const ledger = await openLedger(readLedgerPlace(place, ""), { isMigrated: true });
  const id = "payouts/4d34";
  const money = { amount: "250.00", currency: "EUR", payee: "b-1", reference: "Invoice 1" };
  const named = { id, account: "account", type: "payout", file: "november.csv", contentHash: "c" };
  const details = JSON.stringify({ notDuplicate: "two deliveries" });
  const uploaded = {
    rows: 1,
    chunks: 1,
    createdBy: "ada",
    createdAt: 0,
    approvedBy: null,
    details,
  };
  await ledger.saveBatch(id, () => ({
    batch: { ...named, ...uploaded, state: "needsApproval" },
  }));
  const payee = {
    terms: "t",
    mark: "m",
    shown: "Example Supplies GmbH, DE, account ending in 3000",
  };
  const row = { number: 2, workflowId: "payout/1", fingerprint: "f", message: null };
  await ledger.saveRows(id, [{ ...row, ...money, ...payee, state: "waiting" }]);
  await ledger.recordStart(
    {
      account: "account",
      workflowId: "payout/1",
      runId: null,
      type: "payout",
      batch: id,
      batchRow: 2,
      ...money,
    },
    {
      by: "ada",
      how: "--by",
      value: {
        type: "payout",
        content: "c",
        terms: "t",
        file: { batch: id, row: 2, name: "november.csv" },
      },
    },
  );

  const approve = ["approve", id, "--by", "grace"];
  const unseen = await runCli(...approve);
  expect(unseen).toMatchObject({ code: 2, stdout: "" });
  expect(unseen.stderr).toMatch(/--hash HASH[^]*durable-payments show payouts\/4d34/);
  expect((await runCli("show", id)).stdout).toMatch(
    /hash +[\da-f]{32}[^]*two deliveries[^]*Example Supplies GmbH[^]*NEW PAYEE/,
  );
  expect(await runCli(...approve, "--hash", "0".repeat(32))).toMatchObject({ code: 6 });
  expect(await ledger.decisionsOf("payout/1")).toHaveLength(1);
  const shown = await runCli("show", id, "--rows", "--json", "--exit-status");
  expect(shown.code).toBe(4);
  const { listing } = JSON.parse(shown.stdout) as { readonly listing: { readonly hash: string } };
  expect(await documentedValue("listing", "show", id)).toBe(listing.hash);
  expect(await runCli(...approve, "--hash", listing.hash)).toMatchObject({ code: 0 });
  expect((await ledger.decisionsOf("payout/1")).map(({ kind }) => kind)).toEqual([
    "start",
    "approve",
  ]);
  expect((await runCli("show", id, "--log")).stdout).toContain("grace (--by) approved 1 row ");

  // The row of an earlier file is open as long as its run is; it is not paid without a payout, however its run has ended.
  await ledger.coverRow(id, 2, "Already in an earlier file.");
  await ledger.finishBatch(id);
  expect((await runCli("show", id, "--exit-status")).code).toBe(4);
  const end = { workflowId: "payout/1", runId: null, endedAt: 1, endType: null, endReason: null };
  await ledger.recordEnds([{ ...end, endState: "succeeded" }]);
  expect((await runCli("show", id, "--exit-status")).code).toBe(1);
  const csv = await runCli("show", id, "--rows", "--csv");
  expect(csv.stdout).toMatch(
    /^workflow_id,status,money,operation,payout_id,[^]*,"Example Supplies GmbH, DE",3000,/,
  );
  const rows = await runCli("show", id, "--rows", "--jsonl");
  expect(JSON.parse(rows.stdout)).toMatchObject({ number: 2, workflowId: "payout/1" });
  expect(await runCli("show", id, "--jsonl")).toMatchObject({ code: 2 });
  await ledger.close();
});

it("reads the events of an account after a cursor, follows them, and says where to read again after a restore", async () => {
  const feed = join(folder, "events.sqlite");
  vi.stubEnv("PAYMENTS_LEDGER", `sqlite:${feed}`);
  expect(await runCli("ledger", "migrate")).toMatchObject({ code: 0 });
  const baseUrl = "https://service.example";
  vi.stubEnv("PAYMENTS_BASE_URL", baseUrl);
  const account = accountHash({ baseUrl, clientId: "client" });
  const ledger = await openLedger(`sqlite:${feed}`);
  onTestFinished(() => ledger.close());
  const start = (workflowId: string) =>
    ledger.recordStart(
      {
        account,
        workflowId,
        runId: null,
        type: "payout",
        batch: null,
        batchRow: null,
        amount: "250.00",
        currency: "EUR",
        payee: null,
        reference: "Invoice 17",
      },
      { by: "ada", how: "test", value: { type: "payout", content: "c" } },
    );
  for (const id of ["payout/1", "payout/2"]) await start(id);
  const shown = await runCli("events");
  expect(shown.stdout).toMatch(/payment\.created +payout\/1 .*250\.00 EUR.*evt_1_/);
  const { events } = JSON.parse((await runCli("events", "--json")).stdout) as {
    readonly events: ReadonlyArray<{ readonly id: string; readonly workflowId: string }>;
  };
  const [first = "", second = ""] = events.map(({ id }) => id);
  expect(events).toMatchObject([{ workflowId: "payout/1" }, { workflowId: "payout/2" }]);
  const lines = await runCli("events", "--after", first, "--jsonl");
  expect(JSON.parse(lines.stdout)).toEqual(events[1]);
  expect(await runCli("events", "--after", second, "--json")).toMatchObject({
    code: 0,
    stdout: '{"events":[]}\n',
  });
  const lost = await runCli("events", "--after", "evt_9_abcdefghijklmnop", "--json");
  expect(lost).toMatchObject({ code: 6, stdout: expect.stringContaining("restored") });
  expect(await runCli("events", "--follow", "--limit", "2")).toMatchObject({ code: 2 });
  // The commands of docs/events.md.
  const page = readFileSync(new URL("../../../docs/events.md", import.meta.url), "utf8");
  const documented = page.matchAll(/^durable-payments (events.*)$/gm);
  for (const [, line = ""] of documented) {
    const args = line.replaceAll("EVENT", first).split(" ");
    expect([line, (await runCli(...args)).code]).toEqual([line, 0]);
  }
  const again = await runCli("events", "redeliver", "--from", first, "--json");
  expect(JSON.parse(again.stdout)).toEqual({ endpoints: 0 });
}, 30_000);
