import { openJournal, type Send, type SendOutcome } from "@durable-payments/journal";
import { clientHash } from "@durable-payments/protocol/account";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { DoubtedStep } from "../../src/history/doubted-step.ts";
import { withJournalRecords } from "../../src/history/with-journal-records.ts";

const folder = await mkdtemp(join(tmpdir(), "journal-record-"));
afterAll(() => rm(folder, { recursive: true }));

const clientId = "client-1";
const file = join(folder, "journal.sqlite");
const settings = { clientId, journal: `sqlite:${file}` };

const send: Send = {
  workflowId: "raced",
  step: "racing",
  number: 1,
  operation: "createPayout",
  runId: "run-1",
  payloadHash: "hash",
};

type Outcome = Exclude<SendOutcome, "begun" | "undone">;

beforeAll(async () => {
  const journal = await openJournal({ _tag: "File", file }, clientHash({ clientId }));
  const write = async (more: Partial<Send>, outcome?: Outcome, ids?: Record<string, string>) => {
    const begun = await journal.begin({ ...send, ...more });
    if (begun._tag === "Begun" && outcome) await begun.send.recordOutcome(outcome, ids);
  };
  const made = { payout_id: "P-1", beneficiary_id: "B-1" };
  await write({ key: "key-1" }, "carriedOut", made);
  await write({ workflowId: "other", key: "key-2" }, "carriedOut", { payout_id: "P-2" });
  await write({ step: "refused", key: "key-3" }, "notCarriedOut");
  await write({ step: "begun", key: "key-4" });
  await write({ step: "lost", key: "key-5" }, "unknown");
  await write({ step: "again", number: 1, key: "key-6" }, "unknown");
  await write({ step: "again", number: 2, knownTo: 1, key: "key-7" }, "carriedOut", {
    payout_id: "P-3",
  });
  await journal.close();
});

const recordOf = async (step: string, key?: string) => {
  const sent = { step, operation: "createPayout", ...(key !== undefined && { key }) };
  const inDoubt: ReadonlyArray<DoubtedStep> = [sent];
  const [run] = await withJournalRecords([settings], [{ workflowId: "raced", inDoubt }]);
  return run?.inDoubt[0]?.journal;
};

it.each([
  ["racing", "key-1", { outcome: "carriedOut", ids: { payout_id: "P-1" } }],
  ["racing", undefined, { outcome: "carriedOut", ids: { payout_id: "P-1" } }],
  ["racing", "key-2", { outcome: "notRecorded" }],
  ["refused", "key-3", { outcome: "notCarriedOut" }],
  ["begun", "key-4", { outcome: "noAnswer" }],
  ["lost", "key-5", { outcome: "noAnswer" }],
  // What became of a later send says nothing of one before it.
  ["again", "key-6", { outcome: "noAnswer" }],
  ["again", "key-7", { outcome: "carriedOut", ids: { payout_id: "P-3" } }],
  ["never", undefined, { outcome: "notRecorded" }],
])("the record of %s, key %s", async (step, key, record) => {
  expect(await recordOf(step, key)).toEqual(record);
});

it("one journal that cannot be read does not hide what another one has, nor stand for what it may have", async () => {
  const away = { clientId: "client-2", journal: `sqlite:${join(folder, "none.sqlite")}` };
  const inDoubt: ReadonlyArray<DoubtedStep> = [
    { step: "racing", operation: "createPayout", key: "key-1" },
    { step: "never", operation: "createPayout", key: "key-9" },
  ];
  const [run] = await withJournalRecords([away, settings], [{ workflowId: "raced", inDoubt }]);
  expect(run?.inDoubt.map(({ journal }) => journal?.outcome)).toEqual(["carriedOut", "notRead"]);
});

it("no journal is opened for runs without a doubt", async () => {
  const wrong = { clientId, journal: "mysql://nowhere" };
  const runs = [{ workflowId: "fine", inDoubt: [] }];
  expect(await withJournalRecords([wrong], runs)).toBe(runs);
});
