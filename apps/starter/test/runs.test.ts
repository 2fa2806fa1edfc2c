import {
  anyText,
  beneficiary,
  card,
  cardholder,
  fields,
  holding,
  ID,
  like,
  listWith,
  options,
  payout,
  tooWide,
} from "@durable-payments/tools/test-data";
import { describe, expect, it, vi } from "vitest";
import { makeRig } from "./support/rig.ts";
import { type Called, jsonOf } from "./support/starter.ts";

// A busy machine takes its time.

// One server, one simulator and one worker for all: no two tests share a run.
const {
  approvalHash,
  awaitStage,
  file,
  found,
  progressOf,
  service,
  simulator,
  starter,
  starterProcess,
  temporal,
} = await makeRig({
  verifyAfter: "300 millis",
  settleAfter: "500 millis",
  balances: { USD: "1000.00", EUR: "1000.00" },
});

const POLLING = { timeout: 120_000, interval: 100 };

/** Awaits that a run is found as one that waits for a person. */
const listed = (workflowId: string) =>
  found(`WorkflowId = "${workflowId}" AND PaymentStage IN ("needsAttention", "awaitApproval")`);

const payoutFile = (amount: string, more: object = {}) =>
  file(`payout-${amount}.json`, {
    beneficiary: { ...beneficiary, nickname: `Supplier ${amount}` },
    payout: { ...payout, amount },
    options,
    ...more,
  });

describe("a payout", () => {
  it("is awaited, reported once more under its id, and paid once", async () => {
    const name = await payoutFile("10.00");
    const first = await starter(["payout", "--file", name, "--wait", "--json"]);
    expect(first.exitCode).toBe(0);
    const run = jsonOf(first);
    expect(run).toEqual({
      workflowId: like(/^payout-[0-9a-f]{32}$/),
      runId: ID,
      state: "completed",
      isNew: true,
      result: {
        payout_id: ID,
        short_reference: like(/^P\d{6}-.{8}$/),
        payout_status: "completed",
        amount: "10.00",
        currency: "EUR",
        complete_time: like(/^\d{4}-\d\d-\d\dT/),
        outcome: "completed",
      },
    });
    expect(first.stderr).toContain(`The id ${String(run["workflowId"])} was made from the input`);
    expect(first.stderr).toMatch(/^✓ createPayout (\d+ms|[\d.]+s)$/m);
    expect(first.stderr).not.toContain("\u001b");
    expect(first.stdout + first.stderr).not.toContain(beneficiary.iban);

    const [again, waited] = await Promise.all([
      starter(["payout", "--file", name, "--json"]),
      starter(["payout", "--file", name, "--json", "--wait"]),
    ]);
    for (const repeated of [again, waited]) {
      expect(repeated.exitCode).toBe(0);
      expect(jsonOf(repeated)).toEqual({ ...run, isNew: false });
      expect(repeated.stderr).toBe(
        `A run with the id ${String(run["workflowId"])} exists: nothing was started.\n`,
      );
    }
    const { payouts } = await simulator.state();
    expect(payouts.filter(({ amount }) => amount === "10.00")).toHaveLength(1);
  });

  it("is reported by its id while it runs, and refuses another input under that id", async () => {
    const name = await payoutFile("11.00", { options: { ...options, approval: { above: "1" } } });
    const other = await payoutFile("11.50", { beneficiary: { ...beneficiary, nickname: "Other" } });
    const patient = await payoutFile("11.0", {
      beneficiary: { ...beneficiary, nickname: "Supplier 11.00" },
      options: { ...options, approval: { above: "2" } },
    });
    const id = "invoice 11";
    const first = await starter(["payout", "--file", name, "--id", id, "--json"]);
    expect(first).toMatchObject({ exitCode: 0, stderr: "" });
    const { runId } = jsonOf(first);
    expect(jsonOf(first)).toEqual({ workflowId: id, runId: ID, state: "running", isNew: true });
    await awaitStage(id, "awaitApproval");

    const [same, withOptions, differing, asText, onboarding] = await Promise.all([
      starter(["payout", "--file", name, "--id", id, "--json"]),
      starter(["payout", "--file", patient, "--id", id, "--json"]),
      starter(["payout", "--file", other, "--id", id, "--json", "--wait"]),
      starter(["payout", "--file", other, "--id", id]),
      starter([
        "onboard",
        "--file",
        await file("onboard.json", { cardholder, card }),
        "--id",
        id,
        "--json",
      ]),
    ]);
    expect(jsonOf(same)).toEqual({ workflowId: id, runId, state: "attention", isNew: false });
    expect(withOptions.exitCode).toBe(0);
    expect(jsonOf(withOptions)).toEqual({ ...jsonOf(same), optionsDiffer: true });
    expect(withOptions.stderr).toContain("Its options differ from those given here");
    expect(differing).toMatchObject({ exitCode: 2, stderr: "" });
    expect(jsonOf(differing)).toEqual({
      error: {
        type: "BadInput",
        message: like(
          /^The id invoice 11 belongs to a run .*11\.00 EUR.*Nothing was started: .* give another id\./,
        ),
        faults: [
          { field: "beneficiary.nickname", problem: "differs" },
          { field: "payout.amount", problem: "is 11.00 in that run, and 11.50 here" },
        ],
      },
    });
    expect(asText).toMatchObject({ exitCode: 2, stdout: "" });
    expect(asText.stderr).toContain("payout.amount is 11.00 in that run, and 11.50 here");
    expect(onboarding.exitCode).toBe(2);
    expect(jsonOf(onboarding)).toMatchObject({
      error: { message: holding("belongs to a run of payout") },
    });
    await temporal.client.workflow.getHandle(id).terminate("by the test");
    const ended = await starter(["payout", "--file", name, "--id", id, "--json", "--wait"]);
    expect(ended.exitCode).toBe(1);
    expect(jsonOf(ended)).toMatchObject({
      state: "terminated",
      failure: { type: "Terminated", message: "by the test" },
    });
  });

  it("goes on when its wait is interrupted", async () => {
    const name = await payoutFile("12.00", { options: { ...options, approval: { above: "1" } } });
    const { exitCode, stderr, stdout } = await starter(
      ["payout", "--file", name, "--id", "interrupted", "--json", "--wait"],
      { interruptAt: "! awaitApproval" },
    );
    expect(exitCode).toBe(130);
    expect(JSON.parse(stdout)).toEqual({
      workflowId: "interrupted",
      runId: ID,
      state: "attention",
    });
    expect(stderr).toContain("the run goes on. See it: starter status interrupted");
    const { status } = await temporal.client.workflow.getHandle("interrupted").describe();
    expect(status.name).toBe("RUNNING");
  });
});

describe("an onboarding", () => {
  it("ends with a card, and its status shows its timeline in 80 columns", async () => {
    const name = await file("ada.json", { cardholder, card, options });
    const awaited = await starter(["onboard", "--file", name, "--id", "ada", "--wait", "--json"]);
    expect(awaited.exitCode).toBe(0);
    const run = jsonOf(awaited);
    expect(run).toEqual({
      workflowId: "ada",
      runId: ID,
      state: "completed",
      isNew: true,
      result: {
        card_holder_id: ID,
        card_id: ID,
        card_status: "pending",
        balance_id: ID,
        card_limit: "100.00",
      },
    });
    const [person, program] = await Promise.all([
      starter(["status", "ada"], { env: { TEMPORAL_UI_URL: "http://localhost:8233/" } }),
      starter(["status", "ada", "--json"]),
    ]);
    expect(person).toMatchObject({ exitCode: 0, stderr: "" });
    expect(tooWide(person.stdout)).toEqual([
      holding(`http://localhost:8233/namespaces/default/workflows/ada/${String(run["runId"])}`),
    ]);
    expect(person.stdout).not.toContain("\u001b");
    expect(person.stdout).toMatch(/✓ awaitVerification\s+(\d+ms|[\d.]+s)/);
    expect(program).toMatchObject({ exitCode: 0, stderr: "" });
    expect(jsonOf(program)).toMatchObject({
      workflowId: "ada",
      state: "completed",
      result: run["result"],
      type: "onboardCardholder",
      stage: "confirmCard",
      stepsFrom: "progress",
      ids: { card_id: ID, card_holder_id: ID, balance_id: ID },
      pending: [],
      attention: null,
      webUi: null,
    });
  });

  it("that fails ends with exit code 1 and the reason", async () => {
    const refused = { ...cardholder, last_name: "Refused" };
    const name = await file("refused.json", { cardholder: refused, card, options });
    const failed = await starter([
      "onboard",
      "--file",
      name,
      "--id",
      "refused",
      "--wait",
      "--json",
    ]);
    expect(failed.exitCode).toBe(1);
    const failure = {
      type: "VerificationRefused",
      message: holding("failed (FAILED)"),
      details: { card_holder_id: ID, card_holder_status: "FAILED" },
    };
    expect(jsonOf(failed)).toEqual({
      workflowId: "refused",
      runId: ID,
      state: "failed",
      isNew: true,
      failure,
    });
    expect(failed.stderr).toMatch(/^✗ awaitVerification/m);
    const [person, program] = await Promise.all([
      starter(["status", "refused"]),
      starter(["status", "refused", "--json"]),
    ]);
    expect([person.exitCode, program.exitCode]).toEqual([1, 1]);
    expect(person.stdout).toMatch(/Failure\n[^]* type +VerificationRefused/);
    expect(jsonOf(program)).toMatchObject({ state: "failed", failure, stage: "awaitVerification" });
  });

  it("without funds shows by which account the balance is funded, and goes on when it is", async () => {
    const name = await file("rich.json", {
      cardholder,
      card: { ...card, card_limit: "5000.00" },
      options,
    });
    const shown = awaitText("fund USD, local (1 of 1):");
    const waiting = starter(["onboard", "--file", name, "--id", "rich", "--wait", "--json"], {
      onStderr: shown.read,
    });
    await awaitStage("rich", "awaitFunds");
    // The stage begins with a look at the balance.
    await vi.waitFor(
      async () =>
        expect(jsonOf(await starter(["status", "rich", "--json"]))).toMatchObject({
          stage: "awaitFunds",
          pending: [{ activity: "awaitFunds", message: holding("is needed") }],
          shown: { "fund USD": { local: [{ account_holder: "Simulated Account Ltd" }] } },
        }),
      POLLING,
    );
    await shown.seen;
    await simulator.fund("USD", "9000.00");
    const { exitCode, stderr } = await waiting;
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/account_number +\d+/);
  });
});

/** Waits for a text on the standard error of a command that is still running. */
const awaitText = (text: string) => {
  const { promise: seen, resolve } = Promise.withResolvers<void>();
  return {
    seen,
    read: (said: string) => {
      if (said.includes(text)) resolve();
    },
  };
};

/** The question that a printed command names. */
const questionOf = (said: string): string => /--question (\S+)/.exec(said)?.[1] ?? "";

/** A printed text with each command in one line. */
const unbroken = (said: string): string => said.replaceAll(/\\\n\s+/g, "");

describe("a run that waits for a person", () => {
  it("is listed with its question, and goes on by the decision", async () => {
    const name = await payoutFile("2000.00", { options: { ...options, onRefusal: "ask" } });
    const shown = awaitText("createPayout needs a person since");
    const waiting = starter(["payout", "--file", name, "--id", "asking", "--wait", "--json"], {
      onStderr: shown.read,
    });
    await awaitStage("asking", "needsAttention");
    await listed("asking");
    const [person, program] = await Promise.all([
      starter(["attention"]),
      starter(["attention", "--json"]),
    ]);
    expect(jsonOf(program)).toEqual({
      runs: listWith({
        workflowId: "asking",
        runId: ID,
        type: "payout",
        state: "attention",
        startedAt: anyText,
        payment: { amount: "2000.00", currency: "EUR" },
        attention: fields({
          question: like(/^1-[0-9a-f]{8}$/),
          step: "createPayout",
          reason: holding("Insufficient balance"),
          consequences: fields({ abandon: holding("whatever was sent stays") }),
          actions: ["amend", "resend", "abandon"],
        }),
      }),
      inDoubt: [],
    });
    expect(person).toMatchObject({ exitCode: 0, stderr: "" });
    const question = questionOf(person.stdout);
    const { runId } = jsonOf(await starter(["status", "asking", "--json"]));
    const command = `starter resolve asking --run-id ${String(runId)} --question ${question} --by NAME --resend`;
    expect(unbroken(person.stdout)).toContain(command);
    expect(person.stdout).toContain("abandon: the run fails, nothing more is sent");
    // Who has not said what was read is shown it, and the command that names it.
    for (const decision of [["--resend"], ["--abandon", "no"], ["--found", "payout_id=p-1"]]) {
      const unsaid = await starter(["resolve", "asking", "--by", "Ada", ...decision]);
      expect(unsaid.exitCode).toBe(2);
      expect(unsaid.stderr).toContain("Insufficient balance");
      expect(unbroken(unsaid.stderr)).toContain(command);
    }
    // What was read was asked by another run of the id.
    const otherRun = ["--run-id", "01a1fd5b-9a44-7252-9679-efb5e0d3d8a2", "--by", "Ada"];
    for (const decision of [
      ["resolve", "asking", ...otherRun, "--question", question, "--resend"],
      ["approve", "asking", ...otherRun, "--hash", "h"],
    ]) {
      const other = await starter(decision);
      expect(other).toMatchObject({ exitCode: 2, stderr: holding("The latest run of asking is") });
    }
    const earlier = ["--question", "1-0badcafe", "--by", "Ada", "--resend"];
    const stale = await starter(["resolve", "asking", ...earlier]);
    expect(stale.exitCode).toBe(2);
    expect(stale.stderr).toContain(
      `This resolves an earlier human task (1-0badcafe): read the one that is open now (${question}).`,
    );
    expect(tooWide(person.stdout)).toEqual([]);

    const decide = (...decision: ReadonlyArray<string>) =>
      starter(["resolve", "asking", "--question", question, "--by", "Ada", "--json", ...decision]);
    const refused = await decide("--found", "payout_id=p-1");
    expect(refused.exitCode).toBe(2);
    expect(jsonOf(refused)).toMatchObject({
      error: { type: "BadInput", message: "Give exactly one of amend, resend, abandon." },
    });

    for (const [amendment, fault] of [
      [{ amount: "20.00" }, { field: "amount", problem: holding('give {"payout": {…}}') }],
      [{ payout: { amount: "-1" } }, { field: "payout.amount", problem: anyText }],
      [{ payout: { currency: "EURO" } }, { field: "payout.currency", problem: anyText }],
      [{ beneficiary: { city: "X" } }, { field: "beneficiary", problem: anyText }],
    ] as const) {
      const wrong = await decide("--amend", await file("wrong.json", amendment));
      expect(wrong.exitCode).toBe(2);
      expect(jsonOf(wrong)).toMatchObject({ error: { faults: [fault] } });
    }

    await shown.seen;
    const taken = await decide(
      "--amend",
      await file("amend.json", { payout: { amount: "20.00" } }),
    );
    expect(taken.exitCode).toBe(0);
    expect(jsonOf(taken)).toEqual({ workflowId: "asking", runId: ID, status: "resolved" });
    const ended = await waiting;
    expect(ended.exitCode).toBe(0);
    expect(jsonOf(ended)).toMatchObject({ state: "completed", result: { amount: "20.00" } });
    const late = await starter(["resolve", "asking", "--by", "Ada", "--resend"]);
    expect(late.exitCode).toBe(2);
    expect(late.stderr).toContain("The run asking has ended");
  });
});

describe("a payment above the limit", () => {
  it("waits for a second person, who approves that payment and no other", async () => {
    const name = await payoutFile("30.00", { options: { ...options, approval: { above: "25" } } });
    const submit = ["payout", "--file", name, "--id", "large", "--by", "Ada"];
    const waiting = starter([...submit, "--wait", "--json"]);
    await awaitStage("large", "awaitApproval");
    await listed("large");
    const attention = jsonOf(await starter(["attention", "--json"]));
    expect(attention).toEqual({
      runs: listWith(
        fields({
          workflowId: "large",
          state: "attention",
          attention: null,
          approval: fields({
            startedBy: "Ada",
            payment: fields({ amount: "30.00", currency: "EUR" }),
          }),
        }),
      ),
      inDoubt: [],
    });
    const hash = await approvalHash("large");
    const approve = (by: string, of: string) =>
      starter(["approve", "large", "--by", by, "--hash", of, "--json"]);
    const [own, other] = await Promise.all([approve("ada", hash), approve("Bob", "another")]);
    expect([own.exitCode, other.exitCode]).toEqual([2, 2]);
    expect(own.stdout).toContain("a second person has to decide");
    expect(other.stdout).toContain("not for this payload");
    const approved = await approve("Bob", hash);
    expect(approved.exitCode).toBe(0);
    expect(jsonOf(approved)).toEqual({ workflowId: "large", runId: ID, status: "approved" });
    expect(jsonOf(await waiting)).toMatchObject({ state: "completed" });

    const [person, program] = await Promise.all([
      starter(["audit", "large"]),
      starter(["audit", "large", "--json"]),
    ]);
    expect(person).toMatchObject({ exitCode: 0, stderr: "" });
    expect(person.stdout).toMatch(/awaitApproval {2}approved by Bob/);
    expect(tooWide(person.stdout)).toEqual([]);
    expect(jsonOf(program)).toMatchObject({
      workflowId: "large",
      entries: listWith(
        fields({ who: "Bob", step: "awaitApproval", what: "approved" }),
        fields({ who: "run", step: "createPayout", what: "known", detail: { payout_id: ID } }),
      ),
    });
  });
});

describe("a pause", () => {
  let held: Promise<Called>;

  it("holds back every send until it is ended", async () => {
    const pause = ["pause", "the bank reports duplicates", "--by", "Ada", "--json"];
    const paused = await starter(pause);
    expect(paused.exitCode).toBe(0);
    const reported = { why: "the bank reports duplicates", by: "Ada", since: anyText };
    const queue = { taskQueue: "payments", namespace: "default" };
    expect(jsonOf(paused)).toEqual({ status: "paused", wasPaused: false, ...queue, ...reported });
    expect(jsonOf(await starter(pause))).toMatchObject({ wasPaused: true });
    const doctor = await starter(["doctor"], { env: service });
    expect(doctor.exitCode).toBe(1);
    expect(doctor.stdout).toMatch(/^FAILED +sends +paused by Ada since/m);

    const name = await payoutFile("40.00");
    held = starter(["payout", "--file", name, "--id", "held", "--wait", "--json"]);
    await expect
      .poll(async () => (await progressOf("held")).steps.at(-1), POLLING)
      .toMatchObject({ status: "waiting", note: holding("duplicates") });
    const before = await simulator.state();
    expect(before.payouts.filter(({ amount }) => amount === "40.00")).toEqual([]);

    const resumed = await starter(["resume", "--by", "Bob", "--json"]);
    expect(jsonOf(resumed)).toEqual({ status: "resumed", wasPaused: true });
  });

  it("says that it holds nothing back where no worker polls the task queue", async () => {
    const env = { PAYMENTS_TASK_QUEUE: "paymnets" };
    const [shown, asJson] = [
      await starterProcess(["pause", "a test", "--by", "Ada"], { env }),
      await starterProcess(["pause", "a test", "--by", "Ada", "--json"], { env }),
    ];
    expect([shown.exitCode, asJson.exitCode]).toEqual([1, 1]);
    expect(shown.stdout.replaceAll(/\s+/g, " ")).toMatch(
      /Sends are paused by Ada .* the task queue "paymnets" in namespace "default"\. ! No worker polls that task queue/,
    );
    expect(jsonOf(asJson)).toMatchObject({ taskQueue: "paymnets", noWorker: true });
    await starterProcess(["resume", "--by", "Bob"], { env });
  });

  it("leaves everything well once it is ended", async () => {
    const [person, program, resumed] = await Promise.all([
      starter(["doctor"], { env: service }),
      starter(["doctor", "--json"], { env: service }),
      starter(["resume", "--by", "Bob", "--json"]),
    ]);
    expect(jsonOf(resumed)).toEqual({ status: "resumed", wasPaused: false });
    expect(person).toMatchObject({ exitCode: 0, stderr: "" });
    expect(person.stdout).not.toContain(simulator.apiKey);
    expect(program.exitCode).toBe(0);
    const names = [
      "Temporal",
      "namespace",
      "search attributes",
      "worker, workflow tasks",
      "worker, activity tasks",
      "tracker",
      "account",
      "sends",
      "client settings",
      "sign-in",
      "ping",
      "list of payouts",
      "list of cardholders",
      "lag of lists",
      "keys in answers",
    ];
    const { checks, ok } = jsonOf(program);
    expect(ok).toBe(true);
    expect(checks).toHaveLength(names.length + 3);
    for (const name of names) {
      expect(checks).toEqual(listWith({ name, status: "ok", detail: anyText }));
      expect(person.stdout).toMatch(new RegExp(`^ok +${name}`, "m"));
    }
    expect(checks).toEqual(listWith(fields({ name: "notifications", status: "skipped" })));
    // The dev server forgets a run after a day.
    expect(checks).toEqual(listWith(fields({ name: "retention", status: "warning" })));
    // A file serves one host, and is lost with it.
    expect(checks).toEqual(listWith(fields({ name: "journal of sends", status: "warning" })));
    expect(jsonOf(await held)).toMatchObject({ state: "completed", result: { amount: "40.00" } });
  });
});

it("reports that there is no such run", async () => {
  const calls = await Promise.all([
    starter(["status", "nobody", "--json"]),
    starter(["resolve", "nobody", "--by", "Ada", "--resend", "--json"]),
  ]);
  for (const call of calls) {
    expect(call.exitCode).toBe(2);
    expect(jsonOf(call)).toMatchObject({
      error: { type: "BadInput", message: holding("no run with the id nobody") },
    });
  }
});
