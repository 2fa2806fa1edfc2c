// Drills: each test brings about what a section of the runbook describes, on real servers, and follows the section
// literally. A section that a person cannot follow at night is a fault: a command that fails, or that shows something
// else than the page says. documented-commands.test.ts checks that the commands of all sections exist.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { checkout } from "../../src/processes.ts";
import { type Drill, NAME, startDrill } from "../support/drill.ts";

const TIMEOUT_MS = 600_000;
vi.setConfig({ testTimeout: TIMEOUT_MS, hookTimeout: TIMEOUT_MS });

let drill: Drill;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ drill, end } = await startDrill("docs/runbook.md"));
});

afterAll(async () => {
  await end();
});

const example = (): Promise<string> => readFile(join(checkout, "examples/payout.json"), "utf8");

/** Submits a file, and returns the id of its batch. */
const payFile = async (file: string, more = ""): Promise<string> => {
  const text = await drill.succeed(
    `durable-payments pay ${file} --by ada --yes --not-a-duplicate Drill ${more}`,
  );
  return /payouts\/[\da-f]+/.exec(text)?.[0] ?? "";
};

it("First: a pause holds back every send, and a resume lets them go", async () => {
  await drill.follow(drill.block("First", 0), { NAME });
  const before = await drill.countPayouts();
  await drill.pay("drill-paused");
  await drill.untilStatus("drill-paused", "paused");
  expect(await drill.countPayouts()).toBe(before);
  expect(await drill.succeed("durable-payments doctor")).toContain(`all sends paused by ${NAME}`);
  await drill.obey("Sends are paused", /resume/, { NAME });
  await drill.untilStatus("drill-paused", "succeeded");
  expect(await drill.countPayouts()).toBe(before + 1);
});

it("A payout is stuck: the run says what it waits for, and ends when the service says so", async () => {
  const before = await drill.countPayouts();
  const PAYOUT_ID = await drill.payAndHold("drill-stuck");
  // Once the list can be read again.
  await vi.waitFor(
    () => drill.followAll("A payout is stuck", { ID: "drill-stuck", PAYOUT_ID, NAME }),
    { timeout: 180_000, interval: 1_000 },
  );
  await drill.setStatus(PAYOUT_ID, "completed");
  await drill.untilStatus("drill-stuck", "succeeded");
  expect(await drill.countPayouts()).toBe(before + 1);
});

it("A duplicate is suspected: each payout leads to its run, and the run to who ordered it", async () => {
  await drill.pay("drill-first");
  await drill.pay("drill-second");
  await drill.untilStatus("drill-second", "succeeded");
  const PAYOUT_ID = await drill.payoutOf("drill-second");
  const given = { ID: "drill-second", PAYOUT_ID, NAME };
  const printed = await drill.followAll("A duplicate is suspected", given);
  expect(printed).toContain("All sends are paused");
  expect(printed).toMatch(/^drill-second {2}succeeded/m);
  expect(printed).not.toMatch(/^drill-first/m);
  expect(printed).toContain("lines are unchanged");
  expect(await drill.succeed("durable-payments show drill-second")).toMatch(/started .* by ada/);
  await drill.obey("A duplicate is suspected", /resume/, given);
});

it("Approved by mistake: a stop order before the send prevents it, and one after it names the payout", async () => {
  const stop = drill.block("Approved by mistake", 0);
  await drill.pay("drill-approved", "examples/payout-with-approval.json");
  await drill.untilStatus("drill-approved", "approval");
  // So that the approval does not win the race.
  await drill.succeed("durable-payments pause drill-approved --by NAME --reason Drill", { NAME });
  // SECURITY.md: an approver needs no key of the service.
  const { inbox } = JSON.parse(
    await drill.succeed("durable-payments show drill-approved --json"),
  ) as {
    readonly inbox: ReadonlyArray<{ readonly hash: string }>;
  };
  const HASH = inbox[0]?.hash ?? "";
  await drill.succeed("durable-payments approve drill-approved --by NAME --hash HASH", {
    NAME,
    HASH,
  });
  const before = await drill.countPayouts();
  for (const line of stop.commands) await drill.succeed(line, { ID: "drill-approved", NAME });
  await drill.succeed("durable-payments resume drill-approved --by NAME", { NAME });
  await drill.untilStatus("drill-approved", "ended");
  expect(await drill.countPayouts()).toBe(before);

  // Held, because a payout that has completed is named in other words.
  const PAYOUT_ID = await drill.payAndHold("drill-too-late");
  await drill.follow(stop, { ID: "drill-too-late", PAYOUT_ID, NAME });
});

it("Approved by mistake: a file is stopped, and so is a row that has started", async () => {
  // It starts, and then waits for an approval of its own, so that nothing is paid meanwhile.
  const payment: unknown = JSON.parse(await example());
  const options = { approval: { above: "1.00" } };
  const row = { ...(payment as object), key: "drill-row", options };
  const file = join(drill.stack.logFolder, "drill.jsonl");
  await writeFile(file, `${JSON.stringify(row)}\n`);
  const given = { BATCH: await payFile(file), NAME };
  await drill.untilStatus("payout/drill-row", "approval");
  const before = await drill.countPayouts();
  const printed = await drill.follow(drill.block("Approved by mistake", 1), given);
  expect(printed).toContain("1 started row stopped: nothing more is sent under their ids.");
  expect(printed).toContain("payout/drill-row");
  await drill.succeed("durable-payments resume BATCH --by NAME", given);
  await drill.untilStatus("payout/drill-row", "ended");
  expect(await drill.countPayouts()).toBe(before);
});

it("Runs failed: the list names the error, and a retry that cannot help says so", async () => {
  const file = join(drill.stack.logFolder, "fails.json");
  await writeFile(file, (await example()).replace("Invoice", "FAIL"));
  await drill.pay("drill-failed", file);
  await drill.untilStatus("drill-failed", "failed");
  const [list = "", shown = "", retry = ""] = drill.block("Runs failed", 0).commands;
  const given = { ID: "drill-failed", NAME };
  expect(await drill.succeed(list, given)).toMatch(/^drill-failed {2}failed/m);
  expect(await drill.succeed(shown, given)).toContain("its payout has failed");
  const refused = await drill.run(retry, given);
  expect(refused.code).toBe(6);
  expect(refused.text.replaceAll(/\s+/g, " ")).toContain("use another id or key");
});

it("A file waits or makes no progress: it says that it waits for an approval", async () => {
  const BATCH = await payFile("examples/payouts.csv", "--approve-above 1.00");
  const printed = await drill.followAll("A file waits or makes no progress", { BATCH, NAME });
  expect(printed).toContain("needs approval");
  const HASH = /hash +([0-9a-f]{32})/.exec(printed)?.[1] ?? "";
  await drill.obey("A file waits or makes no progress", /approve/, { BATCH, NAME, HASH });
  await drill.untilStatus("payout/invoice-2026-101", "succeeded");
});

it("A file that is approved while Temporal is unreachable starts soon after it is reached", async () => {
  const file = join(drill.stack.logFolder, "later.jsonl");
  const row = { ...(JSON.parse(await example()) as object), key: "drill-later" };
  await writeFile(file, `${JSON.stringify(row)}\n`);
  const BATCH = await payFile(file, "--approve-above 1.00");
  const shown = await drill.succeed("durable-payments show BATCH", { BATCH });
  const HASH = /hash +([0-9a-f]{32})/.exec(shown)?.[1] ?? "";
  const approve =
    "TEMPORAL_ADDRESS=127.0.0.1:9 durable-payments approve BATCH --by NAME --hash HASH";
  const approved = await drill.run(approve, { BATCH, NAME, HASH });
  expect(approved.text).toContain(`${BATCH}: approved by ${NAME}.`);
  await drill.untilStatus("payout/drill-later", "succeeded");
});

it("Approvals or limits were loosened: doctor shows that there are none", async () => {
  // Each account has its part of the line.
  const { output = "" } = drill.block("Approvals or limits were loosened", 0);
  const shown = new RegExp(`^${output.trim().replaceAll(/\s+/g, String.raw`\s+`)}\\b`, "m");
  expect(await drill.succeed("durable-payments doctor")).toMatch(shown);
});

it("Was it paid: the list shows until when a lost response is checked, and then that it was paid once", async () => {
  const before = await drill.countPayouts();
  // Until it was shown: shorter than the assumption listLagSeconds, after which the absence of a payout proves something.
  await drill.control("temperament", { listLagMs: 150_000 }, "PUT");
  await drill.control("faults", { kind: "dropped", operation: "createPayout" });
  await drill.pay("invoice-17");
  await drill.untilStatus("invoice-17", "unknown");
  const { commands } = drill.block("Was it paid?", 0);
  const [list = "", log = ""] = commands;
  // While a check is under way, there is no time of the next one.
  await drill.untilShows("Was it paid?", list);
  expect(await drill.succeed(log, { ID: "invoice-17" })).toContain("response lost");
  await drill.control("temperament", {}, "PUT");
  await drill.untilStatus("invoice-17", "succeeded");
  expect(await drill.countPayouts()).toBe(before + 1);
});

it("A decision has no effect: an open run is made to look again", async () => {
  await drill.pay("drill-open", "examples/payout-with-approval.json");
  await drill.untilStatus("drill-open", "approval");
  const given = { ID: "drill-open", NAME };
  expect(await drill.obey("A run waits for a person", /inbox/, given)).toContain("drill-open");
  await drill.obey("A decision has no effect", /show/, given);
  await drill.obey("A decision has no effect", /retry/, given);
  await drill.untilStatus("drill-open", "approval");
});

it("A workflow task fails: a run is replayed against the code", async () => {
  const printed = await drill.obey("A workflow task fails", /replay/, { ID: "drill-stuck" });
  expect(printed).toContain("drill-stuck");
});
