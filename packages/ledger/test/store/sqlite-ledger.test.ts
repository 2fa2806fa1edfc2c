import { execFileSync, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { skippedBecause } from "@durable-payments/tools/skip";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { openLedger } from "../../src/index.ts";
import { describeLedger } from "../support/contract.ts";
import { describeFeed } from "../support/feed.ts";
import { describeStatuses } from "../support/statuses.ts";
import { describeMigrations } from "../support/migrations.ts";
import { ADA, decisionOf, made, nameOf, runOf, saving, startOf } from "../support/rows.ts";

const folder = mkdtempSync(join(tmpdir(), "ledger-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a shell command as root of a namespace of its own, which may mount a small disk. */
const inNamespace = (command: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(
    "unshare",
    ["--user", "--map-root-user", "--mount", "sh", "-c", command, "sh", ...args],
    {
      encoding: "utf8",
      stdio: "pipe",
    },
  );

const whyNoSmallDisk = (): string | undefined => {
  try {
    inNamespace(`mount -t tmpfs ledger "$1"`, folder);
    return undefined;
  } catch {
    return "a user may not mount a disk of its own here";
  }
};

const fileOf = (name: string) => join(folder, `${name}.sqlite`);

describe("a ledger in a SQLite file", () => {
  describeLedger((options) => openLedger(`sqlite:${fileOf("contract")}`, options));
  describeStatuses(() => openLedger(`sqlite:${fileOf("statuses")}`));
  describeFeed(() => openLedger(`sqlite:${fileOf("feed")}`));

  it(
    "reports a full disk by its name, records nothing, and continues when there is room",
    skippedBecause(whyNoSmallDisk()),
    () => {
      const disk = mkdtempSync(join(folder, "disk-"));
      const script = fileURLToPath(new URL("../support/full-disk-process.ts", import.meta.url));
      const mount = `mount -t tmpfs -o size=2m ledger "$1" && exec "$2" --conditions=@durable-payments/source "$3" "$1"`;
      const said = inNamespace(mount, disk, process.execPath, script);
      const full = expect.stringContaining("full); its disk is full: nothing is sent") as string;
      // The version is that of a first write: the refused one has left nothing.
      expect(JSON.parse(said)).toEqual({ reasons: [full, full], version: 1 });
    },
  );

  it("is opened and read while another process writes", async () => {
    const file = fileOf("locked");
    await (await openLedger(`sqlite:${file}`)).close();
    const writer = new DatabaseSync(file);
    writer.exec("BEGIN IMMEDIATE");
    const reader = await openLedger(`sqlite:${file}`);
    expect(await reader.overview()).toMatchObject({ toNotify: 0 });
    await reader.close();
    writer.close();
  });

  it("loses nothing that was said to be written to a kill in the midst of writing", async () => {
    const place = `sqlite:${fileOf("killed")}` as const;
    const child = fork(new URL("../support/writer-process.ts", import.meta.url), [place], {
      execArgv: ["--conditions=@durable-payments/source"],
    });
    const written = await new Promise<number>((resolve) => {
      let last = 0;
      child.on("message", (number) => {
        last = Number(number);
        if (last === 25) child.kill("SIGKILL");
      });
      child.once("exit", () => resolve(last));
    });
    const ledger = await openLedger(place);
    const rows = await ledger.rows({ states: ["sending"] });
    expect(written).toBeGreaterThanOrEqual(25);
    expect(rows.length).toBeGreaterThanOrEqual(written);
    expect(await ledger.verify("many-25")).toEqual({ isIntact: true, lines: 1 });
    await ledger.close();
  });

  it("shows that it was restored to a copy", async () => {
    const [place, copy] = [fileOf("restored"), fileOf("copy")];
    const ledger = await openLedger(`sqlite:${place}`);
    const name = nameOf();
    await ledger.transact(name, saving(name));
    await ledger.backup(copy);
    await ledger.transact(name, saving(name, made("P-1")));
    const mark = await ledger.mark();
    await ledger.close();
    copyFileSync(copy, place);
    const restored = await openLedger(`sqlite:${place}`);
    expect(await restored.expect(mark)).toBe(false);
    await restored.recover(ADA);
    expect(await restored.expect(mark)).toBe(true);
    expect(await restored.look(name)).toMatchObject({
      epoch: 2,
      row: { epoch: 1, state: "sending" },
    });
    await restored.close();
  });

  it("is copied to a new file that nobody else can read, and to no other", async () => {
    const [place, copy] = [fileOf("copied"), fileOf("copy-of-copied")];
    const ledger = await openLedger(`sqlite:${place}`);
    writeFileSync(copy, "of yesterday");
    await expect(ledger.backup(copy)).rejects.toThrow(/cannot be written \(EEXIST/);
    expect(readFileSync(copy, "utf8")).toBe("of yesterday");
    rmSync(copy);
    await ledger.backup(copy);
    expect([place, copy].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
    await expect(ledger.backup(join(folder, "missing", "copy"))).rejects.toThrow(/ENOENT/);
    await ledger.close();
  });

  it("keeps no lease that was released, and none of a worker that was killed", async () => {
    const file = fileOf("leases");
    const ledger = await openLedger(`sqlite:${file}`);
    const names = () => {
      const database = new DatabaseSync(file);
      const found = database.prepare("SELECT name FROM leases").all();
      database.close();
      return found.map(({ name }) => name);
    };
    expect(await ledger.lease("released", "one", 60_000)).toBe(true);
    expect(await ledger.lease("released", "one", 0)).toBe(true);
    expect(await ledger.lease("of a killed worker", "two", 1)).toBe(true);
    expect(await ledger.lease("held", "three", 60_000)).toBe(true);
    expect(names()).toEqual(["held", "of a killed worker"]);
    const { now } = await ledger.state();
    await expect.poll(async () => (await ledger.state()).now).toBeGreaterThan(now + 1);
    await ledger.prune(now, ADA);
    expect(names()).toEqual(["held"]);
    await ledger.close();
  });

  it("has no text in plain where it is sealed", async () => {
    const seal = {
      seal: (text: string) => `sealed:1:k1:${Buffer.from(text).toString("base64")}`,
      open: (text: string) => Buffer.from(text.split(":")[3] ?? "", "base64").toString(),
    };
    const file = fileOf("sealed");
    const ledger = await openLedger(`sqlite:${file}`, { seal });
    const name = nameOf();
    await ledger.transact(name, saving(name));
    await ledger.decide(decisionOf());
    await ledger.pause("all", "", { ...ADA, reason: "Mallory again" });
    expect(await ledger.look(name)).toMatchObject({
      row: { request: { facts: { holder: "Grace Hopper" } } },
      end: { reason: "fraud of Mallory" },
      pause: { reason: "Mallory again" },
    });
    await ledger.close();
    expect(readFileSync(file, "latin1")).not.toMatch(/Hopper|Mallory/);
    // A worker or tool without the keyring is told so.
    await expect(openLedger(`sqlite:${file}`)).rejects.toThrow("needs the keyring of the workers");
  });

  it("keys marks by a key of its own, which outlives a rotation and copies, and which no other ledger has", async () => {
    const sealBy = (key: string) => ({
      seal: (text: string) => `sealed:1:${key}:${Buffer.from(text).toString("base64")}`,
      open: (text: string) => Buffer.from(text.split(":")[3] ?? "", "base64").toString(),
    });
    const mark = "0123456789abcdef0123456789abcdef";
    const keyedIn = async (file: string, key?: string) => {
      const ledger = await openLedger(`sqlite:${fileOf(file)}`, key ? { seal: sealBy(key) } : {});
      const keyed = ledger.keyed(mark);
      await ledger.close();
      return keyed;
    };
    const first = await keyedIn("marks", "k1");
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(first).not.toBe(mark);
    expect(await keyedIn("marks", "k2")).toBe(first);
    copyFileSync(fileOf("marks"), fileOf("marks-copy"));
    expect(await keyedIn("marks-copy", "k2")).toBe(first);
    expect(await keyedIn("other-marks", "k1")).not.toBe(first);
    // Without a keyring a mark is what it was, so that one added later makes others.
    expect(await keyedIn("plain-marks")).toBe(mark);
    expect(await keyedIn("plain-marks", "k1")).not.toBe(mark);
  });

  it("is read by any client while it is open, and no other client makes a change that would be an event", async () => {
    const page = readFileSync(new URL("../../../../docs/retention.md", import.meta.url), "utf8");
    const [, documented = ""] = /^sqlite3 -readonly FILE '(.*)'$/m.exec(page) ?? [];
    const file = fileOf("by-hand");
    const ledger = await openLedger(`sqlite:${file}`);
    const name = nameOf();
    await ledger.recordStart(runOf({ workflowId: name.workflowId }), startOf());
    await ledger.transact(name, saving(name));
    const client = new DatabaseSync(file);
    expect(client.prepare(documented).all()).toEqual([{ status: "running", "count(*)": 1 }]);
    for (const change of ["writes SET standing = 'completed'", "runs SET planned = 'open'"])
      expect(() => client.exec(`UPDATE ${change}`)).toThrow("no such function: ledger_now");
    client.close();
    expect(await ledger.rowsOf(name.workflowId)).toMatchObject([{ state: "sending" }]);
    await ledger.close();
  });

  it("shows that a line of the log was edited", async () => {
    const file = fileOf("edited");
    const ledger = await openLedger(`sqlite:${file}`);
    const name = nameOf();
    await ledger.transact(name, saving(name));
    await ledger.decide(decisionOf({ by: "eve" }));
    const sequence = (await ledger.decisionsOf(name.workflowId))[0]?.sequence;
    const editor = new DatabaseSync(file);
    editor.exec(`UPDATE log SET body = replace(body, 'eve', 'ada') WHERE sequence = ${sequence}`);
    editor.close();
    expect(await ledger.verify(name.workflowId)).toEqual({ isIntact: false, sequence });
    // Nor does a prune remove the evidence.
    await ledger.transact(name, saving(name, { ...made("P-1"), mustNotify: false }));
    expect(await ledger.prune((await ledger.state()).now + 60_000, ADA)).toBe(0);
    expect(await ledger.verify(name.workflowId)).toEqual({ isIntact: false, sequence });
    await ledger.close();
  });

  describeMigrations(async () => {
    const file = fileOf(randomUUID());
    const run = async (sql: string) => {
      const database = new DatabaseSync(file);
      database.exec(sql);
      database.close();
    };
    return { open: (options) => openLedger(`sqlite:${file}`, options), run };
  });

  it("refuses the file of something else", async () => {
    const foreign = fileOf("foreign");
    const database = new DatabaseSync(foreign);
    database.exec("CREATE TABLE cats (name TEXT)");
    database.close();
    await expect(openLedger(`sqlite:${foreign}`)).rejects.toThrow(
      /the SQLite database of another program/,
    );
  });

  it("says what to do by the cause, and never to take another file", async () => {
    const garbage = fileOf("garbage");
    writeFileSync(garbage, "no database at all, ".repeat(100));
    await expect(openLedger(`sqlite:${garbage}`)).rejects.toThrow(
      /not a database.*; stop the workers, and restore the latest backup in its place$/,
    );
    await expect(openLedger("sqlite:/proc/none/ledger.sqlite")).rejects.toThrow(
      /; allow this user to write the file and its folder$/,
    );
  });

  it("stops where its file is replaced under a live worker", async () => {
    const file = fileOf("replaced");
    const ledger = await openLedger(`sqlite:${file}`);
    rmSync(file);
    await expect(ledger.look(nameOf())).rejects.toThrow(/was moved, removed or replaced/);
    await ledger.close();
  });
});

it("keeps no statement for each number that a caller gives: a server would grow with them", async () => {
  const ledger = await openLedger("memory");
  const list = async (limit: number) => {
    await ledger.listRuns({ statuses: ["failed", "running"], payees: ["b-1"] }, { limit });
    await ledger.runs({ limit });
    await ledger.failedRuns({}, limit);
    await ledger.batches({ limit });
    await ledger.events("account", { limit });
  };
  await list(1);
  const prepared = vi.spyOn(DatabaseSync.prototype, "prepare");
  onTestFinished(() => prepared.mockRestore());
  await list(2);
  expect(prepared).not.toHaveBeenCalled();
  await ledger.close();
});
