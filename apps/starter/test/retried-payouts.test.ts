import type { PayoutInput } from "@durable-payments/protocol";
import {
  beneficiary,
  card,
  cardholder,
  holding,
  options,
  payout,
} from "@durable-payments/tools/test-data";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFailed, onTestFinished, vi } from "vitest";
import { makeRepairRig } from "./support/repair-rig.ts";
import { jsonOf } from "./support/starter.ts";

// A busy machine takes its time.

const {
  approvalHash,
  awaitStage,
  ended,
  file,
  simulator,
  start,
  starter,
  stopWorker,
  replaceWorker,
  temporal,
} = await makeRepairRig();

const PATIENCE = { timeout: 120_000, interval: 100 };

/** Each test pays an amount that no other test pays, to be found in the ledger. */
const paying = (amount: string): PayoutInput => ({
  beneficiary: { ...beneficiary, nickname: "Supplier" },
  payout: { ...payout, amount, payout_reference: "Invoice 1" },
  options,
});

const refuse = () => simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });

const amend = async (id: string, amount: string) =>
  starter([
    "runs",
    "retry",
    id,
    "--by",
    "Bob",
    "--amend",
    await file("amount.json", { payout: { amount } }),
  ]);

it("an id whose payment was amended is the run of both, and says which was given", async () => {
  await refuse();
  await start("payout", "amended", paying("25.00"));
  expect(await ended("amended")).toBe("FAILED");
  expect((await amend("amended", "5.55")).exitCode).toBe(0);
  expect(await ended("amended")).toBe("COMPLETED");
  const submit = async (amount: string, ...more: ReadonlyArray<string>) =>
    starter([
      "payout",
      "--file",
      await file(`${amount}.json`, paying(amount)),
      "--id",
      "amended",
      ...more,
    ]);

  const now = await submit("5.55", "--json");
  expect(now.exitCode).toBe(0);
  expect(jsonOf(now)).toMatchObject({
    isNew: false,
    state: "completed",
    result: { amount: "5.55" },
    amended: { given: "now", fields: ["payout.amount"], about: holding("5.55 EUR") },
  });
  expect(now.stderr).toContain("It was started with another input");

  const before = await submit("25.00", "--json");
  expect(before.exitCode).toBe(0);
  expect(jsonOf(before)).toMatchObject({
    isNew: false,
    result: { amount: "5.55" },
    amended: { given: "before", fields: ["payout.amount"], about: holding("5.55 EUR") },
  });
  expect(before.stderr.replaceAll(/\s+/g, " ")).toContain(
    "What was given here was amended since (payout.amount), and is not what that run sends: Pay 5.55 EUR",
  );

  const other = await submit("7.00", "--json");
  expect(other.exitCode).toBe(2);
  expect(jsonOf(other)).toMatchObject({
    error: {
      message: holding("amended since to"),
      faults: [
        {
          field: "payout.amount",
          problem: "was 25.00 in that run, is 5.55 since it was amended, and 7.00 here",
        },
      ],
    },
  });
});

/** What `runs show` offers, as it is typed: with a name and a reason. */
const offered = async (id: string) => {
  const { next, noRetry } = jsonOf(await starter(["runs", "show", id, "--json"])) as {
    readonly next: ReadonlyArray<{ readonly command: ReadonlyArray<string> }>;
    readonly noRetry: string | null;
  };
  const retries = next
    .map(({ command }) => command)
    .filter(([first, second]) => first === "runs" && second === "retry")
    .map((command) =>
      command.map((part) => (part === "NAME" ? "Bob" : part === "WHY" ? "meant to" : part)),
    );
  return { retries, noRetry };
};

const endings: ReadonlyArray<readonly [string, (id: string) => Promise<unknown>]> = [
  [
    "that a person rejected",
    async (id) => {
      const input = paying("61.00");
      // Its retry asks for an approval, and nobody gives one.
      onTestFinished(() =>
        temporal.client.workflow
          .getHandle(id)
          .terminate("over")
          .then(() => undefined),
      );
      await start("payout", id, { ...input, options: { ...options, approval: { above: "1" } } });
      await awaitStage(id, "awaitApproval");
      const hash = await approvalHash(id);
      await starter(["approve", id, "--by", "Eve", "--hash", hash, "--reject", "no"]);
    },
  ],
  [
    "that a person abandoned",
    async (id) => {
      await refuse();
      const input = paying("62.00");
      await start("payout", id, { ...input, options: { ...options, onRefusal: "ask" } });
      await awaitStage(id, "needsAttention");
      const { attention } = jsonOf(await starter(["status", id, "--json"])) as {
        readonly attention: { readonly question: string };
      };
      const { question } = attention;
      await starter(["resolve", id, "--by", "Eve", "--question", question, "--abandon", "no"]);
    },
  ],
  [
    "that was asked to end before its last step began",
    async (id) => {
      const requests = async () => (await simulator.state()).requests["createPayout"] ?? 0;
      const before = await requests();
      await simulator.addFault({ kind: "slow", operation: "createPayout", milliseconds: 3_000 });
      await start("payout", id, paying("63.00"));
      await vi.waitFor(async () => expect(await requests()).toBe(before + 1), PATIENCE);
      await starter(["runs", "cancel", id, "--by", "Eve", "--reason", "no"]);
    },
  ],
  [
    "that undid what it had done",
    async (id) => {
      await simulator.addFault({ kind: "refusal-in-200", operation: "createCard" });
      const undoes = { ...options, onFailure: "compensate" } as const;
      await start("onboardCardholder", id, { cardholder, card, options: undoes });
    },
  ],
];

/** Awaits that a run has ended, or waits for a person. */
const hasStopped = (id: string) =>
  vi.waitFor(async () => {
    const { state } = jsonOf(await starter(["status", id, "--json"]));
    expect(state).not.toMatch(/running|waiting/);
  }, PATIENCE);

it.each(endings)("a run %s is offered the retry that works", async (id, end) => {
  await end(id);
  expect(await ended(id)).not.toBe("COMPLETED");
  const { noRetry, retries } = await offered(id);
  expect(noRetry).toBeNull();
  expect(retries.filter((command) => !command.includes("FILE"))).toHaveLength(2);
  // The first of them only says what the second does.
  for (const command of retries.filter((each) => !each.includes("FILE"))) {
    expect(await starter([...command, "--json"])).toMatchObject({ exitCode: 0 });
  }
  // What it sends is not counted with what the next test sends.
  await hasStopped(id);
});

it("a run that ended before its first step is offered none, and says what to do", async () => {
  onTestFailed(replaceWorker);
  await stopWorker();
  await start("payout", "unbegun", paying("64.00"));
  await temporal.client.workflow.getHandle("unbegun").terminate("by the test");
  const { noRetry, retries } = await offered("unbegun");
  expect(retries).toEqual([]);
  expect(noRetry).toContain("start a run of another id");
  const shown = await starter(["runs", "show", "unbegun"]);
  expect(shown.stdout.replaceAll(/\s+/g, " ")).toContain(
    "What can be done The run unbegun has not begun its first step.",
  );
  await replaceWorker();
});

it("a payout that is not complete in time is reported as such, with one exit code", async () => {
  await simulator.addFault({ kind: "slow", operation: "createPayout", milliseconds: 3_000 });
  const input = { ...paying("65.00"), options: { ...options, completeWithin: "1 second" } };
  const late = await file("late.json", input);
  const submit = ["payout", "--file", late, "--id", "late"];
  expect((await starter(submit)).exitCode).toBe(0);
  const made = async () =>
    (await simulator.state()).payouts.find(({ amount }) => amount === "65.00")?.payout_id;
  await vi.waitFor(async () => expect(await made()).toBeDefined(), PATIENCE);
  await simulator.setPayoutStatus((await made()) ?? "", "in_review");
  const shown = [
    await starter([...submit, "--wait"]),
    await starter(submit),
    await starter(["watch", "late"]),
    await starter(["status", "late"]),
  ];
  for (const { exitCode, stdout } of shown) {
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/not complete in time/);
  }
  expect((await starter(["runs", "show", "late"])).stdout).toMatch(/not complete in time/);
  await vi.waitFor(async () => {
    const { stdout } = await starter(["runs", "list"]);
    expect(stdout.replaceAll(/\s+/g, " ")).toMatch(/late .*its payout was not complete in time/);
  }, PATIENCE);
});

it("a run that was retried shows when it was started by whom, and when it was retried", async () => {
  await refuse();
  await start("payout", "started", paying("66.00"));
  await ended("started");
  const { startTime } = await temporal.client.workflow.getHandle("started").describe();
  // Times are shown to the second.
  await sleep(1_100);
  await starter(["runs", "retry", "started", "--by", "Bob"]);
  await ended("started");
  const second = startTime.toISOString().slice(0, 19);
  for (const command of [["status"], ["runs", "show"]]) {
    const shown = await starter([...command, "started"]);
    expect(shown.stdout).toContain(`${second.replace("T", " ")} UTC by Ada`);
    expect(shown.stdout).toMatch(/^ {2}retried +\d{4}-/m);
    const report = jsonOf(await starter([...command, "started", "--json"]));
    expect(String(report["firstStartedAt"]).slice(0, 19)).toBe(second);
    expect(report["startedAt"]).not.toBe(report["firstStartedAt"]);
  }
});
