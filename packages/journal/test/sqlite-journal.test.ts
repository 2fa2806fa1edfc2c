import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Journal, JournalUnavailable, openJournal } from "../src/index.ts";
import { networkFileSystem, openSqliteFile } from "../src/sqlite-file.ts";
import { describeJournal } from "./support/contract.ts";
import { describeProcesses } from "./support/processes.ts";
import { sendOf } from "./support/sends.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "journal-sqlite-"));
});
afterAll(() => rm(folder, { recursive: true }));

const open = (file: string, account = "account-1"): Promise<Journal> =>
  openJournal({ _tag: "File", file: join(folder, file) }, account);

describe("a journal in a SQLite file", () => {
  describeJournal((account) => open("contract.sqlite", account));
  describeProcesses(() => `sqlite:${join(folder, "processes.sqlite")}`);
});

const senderProcess = fileURLToPath(new URL("support/sender-process.ts", import.meta.url));

const modeOf = (file: string) => (statSync(join(folder, file)).mode & 0o777).toString(8);

/** What a journal that is not opened says. */
const refusalOf = async (opening: Promise<unknown>): Promise<string> => {
  const error = await opening.then(
    () => new Error("it was opened"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof JournalUnavailable) return error.message;
  throw error;
};

describe("the file", () => {
  it("is made with its folder, for its owner alone, and survives being closed", async () => {
    const before = await open("made/here.sqlite");
    await before.begin(sendOf());
    expect([modeOf("made"), modeOf("made/here.sqlite"), modeOf("made/here.sqlite-wal")]).toEqual([
      "700",
      "600",
      "600",
    ]);
    await before.close();
    const after = await open("made/here.sqlite");
    expect(await after.begin(sendOf())).toMatchObject({ _tag: "AlreadySent" });
    await after.close();
  });

  it("waits for the disk at every commit, and its writers not for its readers", () => {
    const { database } = openSqliteFile(join(folder, "durable.sqlite"));
    const FULL = 2;
    expect(database.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: FULL });
    expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    database.close();
  });

  it("of an earlier version is brought up to date, with what is known by id", async () => {
    const file = "earlier.sqlite";
    const before = await open(file);
    const begun = await before.begin(sendOf());
    if (begun._tag === "Begun") await begun.send.recordOutcome("carriedOut", { payout_id: "P-1" });
    await before.close();
    const database = new DatabaseSync(join(folder, file));
    database.exec(
      "DROP INDEX sends_by_payee; ALTER TABLE sends DROP COLUMN payee; DROP INDEX sends_by_made_id; ALTER TABLE sends DROP COLUMN made_id; PRAGMA user_version = 1",
    );
    database.close();
    const after = await open(file);
    const { operation, step } = sendOf();
    const found = { workflowId: "other", step, operation, ids: { payout_id: "P-1" } };
    expect(await after.noteFound(found)).toEqual({ workflowId: sendOf().workflowId, step });
    await after.close();
  });

  it("of a later version is refused, and left as it is", async () => {
    await (await open("later.sqlite")).close();
    const database = new DatabaseSync(join(folder, "later.sqlite"));
    database.exec("PRAGMA user_version = 99");
    expect(await refusalOf(open("later.sqlite"))).toMatch(
      /later\.sqlite is of version 99, and this version of durable-payments knows 3 at most: run the later version/,
    );
    expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: 99 });
    database.close();
  });

  it.each([
    ["is a database of something else", "other.sqlite", /SQLite database of something else/],
    ["is no database", "text.sqlite", /not a database/],
    [
      "cannot be made",
      "text.sqlite/journal.sqlite",
      /cannot be opened for writing .*EEXIST|ENOTDIR/,
    ],
    ["is a folder", "folder.sqlite", /cannot be opened for writing .*a folder, a device or a pipe/],
  ])("that %s is refused with words", async (_, file, words) => {
    const other = new DatabaseSync(join(folder, "other.sqlite"));
    other.exec("CREATE TABLE IF NOT EXISTS accounts (name TEXT)");
    other.close();
    writeFileSync(join(folder, "text.sqlite"), "This is a text, and long enough not to be empty.");
    mkdirSync(join(folder, "folder.sqlite"), { recursive: true });
    const refusal = await refusalOf(open(file));
    expect(refusal).toMatch(words);
    expect(refusal).toContain("PAYMENTS_JOURNAL=sqlite:FILE");
  });

  // In a process of its own: what stands still would hold the tests.
  it.runIf(process.platform === "linux").each([
    ["in a folder in which none can be made", () => "/proc/none/journal.sqlite"],
    [
      "that is a pipe which nobody reads",
      () => {
        execFileSync("mkfifo", [join(folder, "pipe")]);
        return join(folder, "pipe");
      },
    ],
    ["that is a device", () => "/dev/null"],
  ])("%s is refused at once", (_, make) => {
    const { status, stderr } = spawnSync(
      process.execPath,
      ["--conditions=@durable-payments/source", senderProcess, `sqlite:${make()}`, "account-1"],
      { encoding: "utf8", timeout: 10_000 },
    );
    expect(stderr).toContain("cannot be opened for writing");
    expect(status).toBe(1);
  });

  it.skipIf(process.getuid?.() === 0)("in a folder that cannot be written is refused", async () => {
    mkdirSync(join(folder, "locked"));
    chmodSync(join(folder, "locked"), 0o500);
    expect(await refusalOf(open("locked/journal.sqlite"))).toMatch(/EACCES/);
  });

  it("on a network's file system is known by its type", () => {
    expect(networkFileSystem(0x6969)).toBe("NFS");
    expect(networkFileSystem(0xfe534d42)).toBe("SMB2");
    // ext4, tmpfs, overlay
    expect([0xef53, 0x01021994, 0x794c7630].map(networkFileSystem)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("that was replaced while it was in use permits nothing any more", async () => {
    const journal = await open("replaced.sqlite");
    const begun = await journal.begin(sendOf());
    if (begun._tag !== "Begun") throw new Error("not begun");
    renameSync(join(folder, "replaced.sqlite"), join(folder, "moved.sqlite"));
    await (await open("replaced.sqlite")).close();
    const words = /was moved, removed or replaced while it was in use/;
    await expect(journal.begin(sendOf({ number: 2 }))).rejects.toThrow(words);
    await expect(begun.send.isLatest()).rejects.toThrow(words);
    await expect(begun.send.recordOutcome("carriedOut")).rejects.toThrow(words);
    await journal.close();
  });
});

describe("while another process writes", () => {
  const hold = (file: string) => {
    const other = new DatabaseSync(join(folder, file));
    other.exec("BEGIN IMMEDIATE");
    return {
      release: () => {
        other.exec("ROLLBACK");
        other.close();
      },
    };
  };

  it("a file is opened after it: workers that start together make its tables once", async () => {
    const file = join(folder, "opening.sqlite");
    const held = new Worker(
      `const { DatabaseSync } = require("node:sqlite");
       const { parentPort, workerData } = require("node:worker_threads");
       const database = new DatabaseSync(workerData);
       database.exec("BEGIN IMMEDIATE");
       parentPort.postMessage("held");
       setTimeout(() => database.close(), 700);`,
      { eval: true, workerData: file },
    );
    await once(held, "message");
    const journal = await open("opening.sqlite");
    expect((await journal.begin(sendOf()))._tag).toBe("Begun");
    await journal.close();
  });

  it("a send waits, and begins after it", async () => {
    const journal = await open("busy.sqlite");
    const held = hold("busy.sqlite");
    const beginning = journal.begin(sendOf());
    setTimeout(held.release, 700);
    expect((await beginning)._tag).toBe("Begun");
    await journal.close();
  });

  it("a send that waits for too long is not begun", async () => {
    const journal = await open("held.sqlite");
    const held = hold("held.sqlite");
    await expect(journal.begin(sendOf())).rejects.toThrow(JournalUnavailable);
    held.release();
    expect(await journal.find(sendOf())).toEqual([]);
    await journal.close();
  });
});
