import { openJournal } from "@durable-payments/journal";
import type { PayoutInput } from "@durable-payments/protocol";
import { clientHash } from "@durable-payments/protocol/account";
import {
  beneficiary,
  fields,
  like,
  listWith,
  options,
  payout,
  tooWide,
} from "@durable-payments/tools/test-data";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { makeRepairRig } from "./support/repair-rig.ts";
import { jsonOf } from "./support/starter.ts";

// A busy machine takes its time.

const folder = await mkdtemp(join(tmpdir(), "starter-test-"));
afterAll(() => rm(folder, { recursive: true }));
const file = join(folder, "journal.sqlite");
const journal = { PAYMENTS_JOURNAL: `sqlite:${file}` };
const rig = await makeRepairRig(journal);
const { service, simulator, start, starter, starterProcess } = rig;
const { workflow } = rig.temporal.client;

const PATIENCE = { timeout: 120_000, interval: 100 };

const ID = "answered late";

const paying: PayoutInput = {
  beneficiary,
  payout: { ...payout, amount: "41.00" },
  options,
};

/** What the command line knows of the worker's journal: where it is, and whose. */
const known = { ...journal, PAYMENTS_CLIENT_ID: service.PAYMENTS_CLIENT_ID };

/** Has the journal know what was made, as where the answer came when nothing of the run took it any more. */
const noteAnswer = async (payout_id: string): Promise<void> => {
  const client = clientHash({ clientId: service.PAYMENTS_CLIENT_ID });
  const opened = await openJournal({ _tag: "File", file }, client);
  try {
    await vi.waitFor(async () => {
      const sends = await opened.find({ workflowId: ID, step: "createPayout" });
      // The worker has written down all that it knows.
      expect(sends.map(({ outcome }) => outcome)).not.toContain("begun");
    }, PATIENCE);
    const ids = { payout_id };
    const operation = "createPayout";
    await opened.noteFound({ workflowId: ID, step: operation, operation, ids });
  } finally {
    await opened.close();
  }
};

let payout_id: string;

beforeAll(async () => {
  await simulator.addFault({ kind: "slow", operation: "createPayout", milliseconds: 4_000 });
  await start("payout", ID, paying);
  const made = await vi.waitUntil(async () => (await simulator.state()).payouts[0], PATIENCE);
  payout_id = made.payout_id;
  await workflow.getHandle(ID).terminate("by the test");
  await noteAnswer(payout_id);
  await vi.waitFor(async () => {
    const { inDoubt } = jsonOf(await starter(["attention", "--json"]));
    expect(inDoubt).toEqual(listWith(fields({ workflowId: ID })));
  }, PATIENCE);
});

const settle = (how: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  starterProcess(["settle", ID, "--by", "Ada", "--reason", "not there", ...how], { env });

it.each([["status", ID], ["runs", "show", ID], ["attention"]])(
  "what the journal has of a send in doubt is shown: %s %s",
  async (...args) => {
    const [person, program] = await Promise.all([
      starter(args, { env: known }),
      starter([...args, "--json"], { env: known }),
    ]);
    const text = person.stdout.replaceAll(/\s+/g, " ");
    expect(text).toContain(
      `createPayout was carried out, made: payout_id ${payout_id} (by the journal)`,
    );
    expect(text).toContain("do not pay it again");
    expect(text).toContain(`--found payout_id=${payout_id}`);
    expect(text).not.toContain("--not-carried-out");
    expect(text).not.toContain("obody knows");
    expect(tooWide(person.stdout)).toEqual([]);
    const answer = jsonOf(program);
    const [listed = answer] = args[0] === "attention" ? (answer["inDoubt"] as Array<object>) : [];
    expect(listed).toMatchObject({
      inDoubt: [{ step: "createPayout", journal: { outcome: "carriedOut", ids: { payout_id } } }],
    });
  },
);

it.each(["status", "runs show"])(
  "a step in doubt is marked so, the same by %s",
  async (command) => {
    const args = [...command.split(" "), ID];
    const { stdout } = await starter(args);
    expect(stdout).toMatch(/^ {2}\? createPayout /m);
    expect(jsonOf(await starter([...args, "--json"]))["steps"]).toEqual(
      listWith(fields({ name: "createPayout", state: "inDoubt" })),
    );
  },
);

it.each([
  ["no client id", {}, /PAYMENTS_CLIENT_ID is not set here/],
  ["none", { ...known, PAYMENTS_JOURNAL: "none" }, /PAYMENTS_JOURNAL is none/],
  [
    "a database that is away",
    { ...known, PAYMENTS_JOURNAL: "postgres://u:secret@127.0.0.1:1/d" },
    /127\.0\.0\.1:1\/d cannot be used/,
  ],
  ["a setting that is wrong", { ...known, PAYMENTS_JOURNAL: "mysql://x" }, /must be sqlite:FILE/],
])("where the journal is not read, that is said: %s", async (_, env, why) => {
  const { stdout } = await starter(["status", ID], { env });
  const text = stdout.replaceAll(/\s+/g, " ");
  expect(text).toMatch(/The journal of sends, which may know it, was not asked: /);
  expect(text).toMatch(why);
  expect(text).toContain("may have been carried out");
  expect(jsonOf(await starter(["status", ID, "--json"], { env }))).toMatchObject({
    inDoubt: [{ journal: { outcome: "notRead", why: like(why) } }],
  });
});

it("what contradicts the journal is not settled", async () => {
  const denied = await settle(["--not-carried-out"], known);
  expect(denied.exitCode).toBe(2);
  expect(denied.stderr.replaceAll(/\s+/g, " ")).toContain(
    `was carried out, as the journal has it: payout_id ${payout_id}. Nothing was done.`,
  );
  const other = await settle(["--found", "payout_id=7d595adc"], known);
  expect(other.exitCode).toBe(2);
  expect(other.stderr.replaceAll(/\s+/g, " ")).toContain(`${payout_id}, which is not payout_id`);
});

it("nor is what the service shows under its key", async () => {
  const denied = await settle(["--not-carried-out"], { ...service, PAYMENTS_JOURNAL: "none" });
  expect(denied.exitCode).toBe(2);
  expect(denied.stderr.replaceAll(/\s+/g, " ")).toContain(
    `The service shows the payout ${payout_id} under the key`,
  );
});

it("what the journal has is settled, and confirmed by it", async () => {
  const settled = await settle(["--found", `payout_id=${payout_id}`, "--json"], known);
  expect(settled.exitCode).toBe(0);
  const answer = jsonOf(settled);
  expect(answer).toMatchObject({ status: "settled", retry: listWith("retry") });
  expect(answer).not.toHaveProperty("notConfirmed");
  expect(answer).not.toHaveProperty("journalNotRead");
});
