import { temporalSettings, withTemporal } from "@durable-payments/operations/connection";
import { type RunUpdate, watchRun } from "@durable-payments/operations/runs";
import type { Progress } from "@durable-payments/protocol";
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
import { beforeAll, describe, expect, it, vi } from "vitest";
import { makeRig } from "./support/rig.ts";
import { jsonOf } from "./support/starter.ts";

// A busy machine takes its time.

const { approvalHash, file, found, replaceWorker, simulator, starter, stopWorker, temporal } =
  await makeRig({
    verifyAfter: "100 millis",
    settleAfter: "100 millis",
    balances: { USD: "1000.00", EUR: "1000.00" },
  });

const { workflow, workflowService } = temporal.client;

const LONG_ID = "an-invoice-with-a-number-that-is-longer-than-the-column";

/** Characters that Temporal's SQL stores cannot compare an id with. */
const QUOTED_ID = 'say "so" \\ now';

const payoutOf = async (id: string, amount: string, more: object = {}) => {
  const name = await file(`${id}.json`, {
    beneficiary: { ...beneficiary, nickname: `Supplier of ${id}` },
    payout: { ...payout, amount },
    options: { ...options, ...more },
  });
  return await starter(["payout", "--file", name, "--id", id, "--by", "Ada", "--json"]);
};

const listed = async (...args: ReadonlyArray<string>) => {
  const { runs } = jsonOf(await starter(["runs", "list", "--json", ...args]));
  // The shape is what the first test is about.
  return (runs as ReadonlyArray<{ readonly workflowId: string }>).map(
    ({ workflowId }) => workflowId,
  );
};

// One run for each way to stand; the tests only read them.
beforeAll(async () => {
  const rich = await file("rich.json", {
    cardholder,
    card: { ...card, card_limit: "5000.00" },
    options,
  });
  await Promise.all([
    payoutOf("paid", "10.00"),
    payoutOf(QUOTED_ID, "5000.00"),
    payoutOf("refused", "5000.00"),
    payoutOf("asks", "6000.00", { onRefusal: "ask" }),
    payoutOf(LONG_ID, "30.00", { approval: { above: "25" } }),
    starter(["onboard", "--file", rich, "--id", "waits"]),
  ]);
  await Promise.all([
    found('WorkflowId = "paid" AND ExecutionStatus = "Completed"'),
    found('WorkflowId = "refused" AND ExecutionStatus = "Failed"'),
    found('WorkflowId STARTS_WITH "say" AND ExecutionStatus = "Failed"'),
    found('PaymentStage = "needsAttention"'),
    found('PaymentStage = "awaitApproval"'),
    found('PaymentStage = "awaitFunds"'),
  ]);
});

describe("runs list", () => {
  it("says since when a run is at its stage, whatever came in since", async () => {
    const listed = async () => {
      const { runs } = jsonOf(await starter(["runs", "list", "--find", "waits", "--json"]));
      return (runs as ReadonlyArray<{ readonly since: string }>)[0]?.since;
    };
    const since = await listed();
    expect(since).toMatch(/Z$/);
    await workflow.getHandle("waits").signal("unknownSignal");
    expect(await listed()).toBe(since);
  });

  it("prints one JSON object, and a table of 80 columns", async () => {
    const [program, person] = await Promise.all([
      starter(["runs", "list", "--find", "paid", "--json"]),
      starter(["runs", "list"]),
    ]);
    expect(program).toMatchObject({ exitCode: 0, stderr: "" });
    expect(jsonOf(program)).toEqual({
      runs: [
        {
          workflowId: "paid",
          runId: ID,
          type: "payout",
          state: "completed",
          stage: anyText,
          awaits: [],
          since: like(/^\d{4}-.*Z$/),
          startedAt: like(/^\d{4}-.*Z$/),
          startedBy: "Ada",
          closedAt: like(/^\d{4}-.*Z$/),
          payment: { amount: "10.00", currency: "EUR", payee: "Supplier of paid" },
          payouts: null,
          currency: "EUR",
          failure: null,
          paymentIds: listWith(ID),
          batch: null,
        },
      ],
      more: false,
    });
    // Marks and kinds are for the runs, not for who reads.
    expect(program.stdout).not.toMatch(/(intent|key|payout|beneficiary):/);
    expect(person).toMatchObject({ exitCode: 0, stderr: "" });
    expect(tooWide(person.stdout)).toEqual([]);
    expect(person.stdout).toMatch(/^ID +STATE +AGE +WHAT$/m);
    const lines = person.stdout.replaceAll(/[\d.]+(ms|s)\b/g, "TIME").split("\n");
    expect(lines.map((line) => line.replaceAll(/ {2,}/g, "  "))).toEqual(
      listWith(
        "waits  waiting  TIME  onboardCardholder 5000.00 USD",
        "  waits for funds for TIME",
        "  payout 10.00 EUR to Supplier of paid",
        "refused  failed  TIME",
        "  payout 5000.00 EUR to Supplier of refused",
        "  createPayout was refused: Insufficient balance",
        LONG_ID,
        "  attention  TIME",
        "  waits for a second person for TIME",
      ),
    );
    expect(person.stdout).not.toContain("\u001b");
  });

  it.each([
    { args: ["--failed"], ids: ["refused", QUOTED_ID] },
    { args: ["--running"], ids: ["asks", LONG_ID, "waits"] },
    { args: ["--waiting"], ids: ["waits"] },
    { args: ["--attention"], ids: [LONG_ID, "asks"] },
    { args: ["--failed", "--waiting"], ids: ["refused", QUOTED_ID, "waits"] },
    { args: ["--type", "onboardCardholder"], ids: ["waits"] },
    { args: ["--stage", "awaitFunds"], ids: ["waits"] },
    { args: ["--failed", "--since", "1h"], ids: ["refused", QUOTED_ID] },
    { args: ["--running", "--since", "0s"], ids: [] },
    { args: ["--find", QUOTED_ID], ids: [QUOTED_ID] },
    { args: ["--find", QUOTED_ID, "--failed", "--type", "payout"], ids: [QUOTED_ID] },
    { args: ["--find", QUOTED_ID, "--running"], ids: [] },
    { args: ["--find", QUOTED_ID, "--type", "onboardCardholder"], ids: [] },
    { args: ["--find", 'no "such\\ id'], ids: [] },
  ])("$args", async ({ args, ids }) => {
    expect((await listed(...args)).filter((id) => !id.startsWith("own-")).toSorted()).toEqual(
      ids.toSorted(),
    );
  });

  it("finds a run by what it made, and shows where there is none", async () => {
    const { payout_id } = (await workflow.result("paid")) as { readonly payout_id: string };
    expect(await listed("--find", payout_id)).toEqual(["paid"]);
    expect(await listed("--find", `payout:${payout_id}`)).toEqual(["paid"]);
    expect(await listed("--find", `card:${payout_id}`)).toEqual([]);
    expect(await listed("--find", payout_id.slice(0, 8))).toEqual(["paid"]);
    expect(await listed("--find", `payout:${payout_id.slice(0, 8)}`)).toEqual(["paid"]);
    expect(await listed("--find", LONG_ID.slice(0, 20))).toEqual([LONG_ID]);
    const { paymentIds } = jsonOf(await starter(["status", "paid", "--json"]));
    expect(paymentIds).toEqual(listWith(payout_id));
    expect(JSON.stringify(paymentIds)).not.toContain(":");
    const shown = await starter(["runs", "show", "paid"]);
    expect(shown.stdout).toMatch(new RegExp(`^  payout_id +${payout_id}$`, "m"));
    expect(shown.stdout).toMatch(/^ {2}key +\S+$/m);
    expect(shown.stdout).not.toMatch(/^ {2}ids? /m);
    const none = await starter(["runs", "list", "--find", "nobody"]);
    expect(none).toEqual({ exitCode: 0, stdout: "No such run.\n", stderr: "" });
  });

  it("groups failures by reason, with an example of each", async () => {
    const [program, person] = await Promise.all([
      starter(["runs", "list", "--group", "--json"]),
      starter(["runs", "list", "--group"]),
    ]);
    expect(jsonOf(program)).toEqual({
      groups: [
        {
          type: "payout",
          state: "failed",
          stage: "createPayout",
          reason: holding("Insufficient balance"),
          count: 2,
          totals: { EUR: "10000.00" },
          example: like(/^refused$|^say/),
        },
      ],
    });
    expect(person.stdout).toMatch(/^2 payout failed at createPayout, in all 10000.00 EUR\n/);
  });

  it("reports that there are more", async () => {
    const [program, person] = await Promise.all([
      starter(["runs", "list", "--limit", "1", "--json"]),
      starter(["runs", "list", "--limit", "1"]),
    ]);
    expect(jsonOf(program)).toEqual({ runs: [anyFields], more: true });
    expect(person.stdout).toContain("These are the first 1; --limit N shows more.");
  });

  it.each([
    [["--limit", "0"], "--limit must be 1 or more."],
    [["--since", "soon"], "--since must be an age"],
    [["--since", "2999-01-01"], "--since must be an age"],
  ])("refuses %j", async (args, message) => {
    const refused = await starter(["runs", "list", "--json", ...args]);
    expect(refused.exitCode).toBe(2);
    expect(jsonOf(refused)).toEqual({ error: { type: "BadInput", message: holding(message) } });
  });

  it("shows of a run that was reset only how it goes on", async () => {
    await payoutOf("own-reset", "7000.00");
    await found('WorkflowId = "own-reset" AND ExecutionStatus = "Failed"');
    expect(await listed("--failed", "--find", "own-reset")).toEqual(["own-reset"]);
    const { runId: failed } = await workflow.getHandle("own-reset").describe();
    const { events } = await workflow.getHandle("own-reset").fetchHistory();
    const first = events?.find(({ workflowTaskCompletedEventAttributes }) =>
      Boolean(workflowTaskCompletedEventAttributes),
    );
    const { runId } = await workflowService.resetWorkflowExecution({
      namespace: "default",
      workflowExecution: { workflowId: "own-reset", runId: failed },
      workflowTaskFinishEventId: first?.eventId ?? null,
      reason: "funded DE89370400440532013000",
      requestId: "once",
    });
    await found('WorkflowId = "own-reset" AND ExecutionStatus = "Running"');
    expect(await listed("--failed", "--find", "own-reset")).toEqual([]);
    expect(await listed("--find", "own-reset")).toEqual(["own-reset"]);

    const [later, earlier] = await Promise.all([
      starter(["runs", "show", "own-reset", "--json"]),
      starter(["runs", "show", "own-reset", "--run-id", failed, "--json"]),
    ]);
    expect(jsonOf(later)).toMatchObject({
      runId,
      state: "running",
      resetFrom: { runId: failed, at: anyText, reason: holding("[redacted]") },
      laterRun: null,
    });
    expect(jsonOf(earlier)).toMatchObject({
      runId: failed,
      state: "failed",
      resetFrom: null,
      laterRun: runId,
      next: [{ command: ["runs", "show", "own-reset"] }],
    });
  });
});

const anyFields = fields({ workflowId: anyText });

describe("runs show", () => {
  it("shows how a payout was made", async () => {
    const [program, person] = await Promise.all([
      starter(["runs", "show", "paid", "--json"], {
        env: { TEMPORAL_UI_URL: "http://localhost:8233" },
      }),
      starter(["runs", "show", "paid"]),
    ]);
    expect(program).toMatchObject({ exitCode: 0, stderr: "" });
    const timeline = jsonOf(program);
    expect(timeline).toMatchObject({
      workflowId: "paid",
      runId: ID,
      type: "payout",
      summary: "Pay 10.00 EUR to a new beneficiary",
      state: "completed",
      startedBy: "Ada",
      currency: "EUR",
      resetFrom: null,
      laterRun: null,
      result: { amount: "10.00" },
      failure: null,
      workerFault: null,
      next: [{ why: anyText, command: ["audit", "paid"] }],
      webUi: holding("/namespaces/default/workflows/paid/"),
    });
    const steps = timeline["steps"] as ReadonlyArray<{ readonly name: string }>;
    expect(steps.map(({ name }) => name)).toEqual([
      "createBeneficiary",
      "createPayout",
      "awaitPayout",
    ]);
    expect(steps[0]).toEqual({
      name: "createBeneficiary",
      state: "completed",
      since: anyText,
      until: anyText,
      tookMs: expect.any(Number) as unknown,
      events: [
        {
          kind: "activity",
          activity: "createBeneficiary",
          summary: "Create the beneficiary",
          since: anyText,
          until: anyText,
          tookMs: expect.any(Number) as unknown,
          outcome: "done",
          attempts: 1,
          failure: null,
          nextAttemptAt: null,
        },
      ],
    });
    expect(person).toMatchObject({ exitCode: 0, stderr: "" });
    expect(tooWide(person.stdout)).toEqual([]);
    expect(person.stdout).toMatch(
      /✓ createPayout +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s+(\d+ms|[\d.]+s)/,
    );
    for (const text of [program.stdout, person.stdout]) {
      expect(text).not.toContain(beneficiary.iban);
      expect(text).not.toContain("\u001b");
    }
  });

  it("shows why a payout failed, and what to do about it", async () => {
    const [program, person] = await Promise.all([
      starter(["runs", "show", "refused", "--json"]),
      starter(["runs", "show", "refused"]),
    ]);
    expect([program.exitCode, person.exitCode]).toEqual([0, 0]);
    const timeline = jsonOf(program);
    expect(timeline).toMatchObject({
      state: "failed",
      failure: { type: "Refused", message: holding("Insufficient balance") },
      steps: listWith(
        fields({ name: "createBeneficiary", state: "completed" }),
        fields({
          name: "createPayout",
          state: "failed",
          events: [fields({ activity: "createPayout", outcome: "failed" })],
        }),
      ),
      next: listWith(
        fields({ command: ["runs", "retry", "refused"] }),
        fields({ command: ["runs", "retry", "refused", "--amend", "FILE"] }),
      ),
    });
    expect(person.stdout).toMatch(/✗ createPayout/);
    expect(person.stdout).toContain("Insufficient balance");
    expect(person.stdout).toContain("starter runs retry refused --dry-run");
    expect(tooWide(person.stdout)).toEqual([]);
  });

  it("shows what a run that is under way waits for", async () => {
    const [waits, asks, approves] = await Promise.all([
      starter(["runs", "show", "waits"]),
      starter(["runs", "show", "asks", "--json"]),
      starter(["runs", "show", LONG_ID, "--json"]),
    ]);
    expect(waits.exitCode).toBe(0);
    expect(waits.stdout.replaceAll(/\s+/g, " ")).toMatch(
      /… awaitFunds .* under way for .* 5000.00 is needed/,
    );
    expect(waits.stdout).toContain("starter watch waits");
    expect(tooWide(waits.stdout)).toEqual([]);
    expect(jsonOf(asks)).toMatchObject({
      state: "attention",
      closedAt: null,
      steps: listWith(
        fields({
          name: "createPayout",
          state: "attention",
          until: null,
          events: [
            fields({ activity: "createPayout", outcome: "failed" }),
            { kind: "question", since: anyText },
          ],
        }),
      ),
      next: listWith(fields({ command: ["status", "asks"] })),
    });
    expect(jsonOf(approves)).toMatchObject({
      state: "attention",
      next: listWith(fields({ command: ["status", LONG_ID] })),
    });
  });

  it("shows what a person decided, and no value of an amendment", async () => {
    await payoutOf("own-amended", "20000.00", { onRefusal: "ask" });
    await found('WorkflowId = "own-amended" AND PaymentStage = "needsAttention"');
    const { attention } = await workflow.getHandle("own-amended").query<Progress>("progress");
    await workflow.getHandle("own-amended").executeUpdate("resolve", {
      args: [
        {
          by: "Bob",
          question: attention?.question,
          amend: { payout: { amount: "20.00", payout_reference: "Order of DE89" } },
        },
      ],
    });
    await workflow.result("own-amended");
    const [program, person] = await Promise.all([
      starter(["runs", "show", "own-amended", "--json"]),
      starter(["runs", "show", "own-amended"]),
    ]);
    expect(jsonOf(program)).toMatchObject({
      state: "completed",
      steps: listWith(
        fields({
          name: "createPayout",
          state: "completed",
          events: [
            fields({ kind: "activity", outcome: "failed" }),
            fields({ kind: "question" }),
            {
              kind: "update",
              name: "resolve",
              at: anyText,
              by: "Bob",
              what: "amend payout.amount, payout.payout_reference",
            },
            fields({ kind: "activity", outcome: "done" }),
          ],
        }),
      ),
    });
    expect(program.stdout).not.toContain("Order of");
    expect(person.stdout.replaceAll(/\s+/g, " ")).toContain("Bob decided after");
    await shownAsAmended("own-amended", "20000.00");
  });

  /** Wherever a run is shown, it is shown as it is sent now: 20.00 EUR. */
  const shownAsAmended = async (id: string, before: string) => {
    const payment = {
      amount: "20.00",
      currency: "EUR",
      payee: `Supplier of ${id}`,
      before: { amount: before, currency: "EUR" },
    };
    const [status, shown, list] = await Promise.all([
      starter(["status", id, "--json"]),
      starter(["runs", "show", id, "--json"]),
      starter(["runs", "list", "--find", id, "--json"]),
    ]);
    expect(jsonOf(status)).toMatchObject({ payment });
    expect(jsonOf(shown)).toMatchObject({ summary: holding("Pay 20.00 EUR") });
    expect(jsonOf(list)).toMatchObject({ runs: [{ payment }] });
    const [one, many] = await Promise.all([
      starter(["status", id]),
      starter(["runs", "list", "--find", id]),
    ]);
    const words = `20.00 EUR to Supplier of ${id} (was ${before} EUR)`;
    for (const { stdout } of [one, many]) expect(stdout.replaceAll(/\s+/g, " ")).toContain(words);
  };

  it("and the list show a run that was retried amended as it is sent now", async () => {
    await payoutOf("own-retried", "5000.00");
    await found('WorkflowId = "own-retried" AND ExecutionStatus = "Failed"');
    const patch = await file("patch.json", { payout: { amount: "20.00" } });
    const retried = await starter(["runs", "retry", "own-retried", "--amend", patch]);
    expect(retried.exitCode).toBe(0);
    await workflow.getHandle("own-retried").result();
    await found('WorkflowId = "own-retried" AND ExecutionStatus = "Completed"');
    await shownAsAmended("own-retried", "5000.00");
  });

  /** A run whose identity check is refused, so that it removes the cardholder. */
  const undo = async (id: string) => {
    const name = await file(`${id}.json`, {
      cardholder: { ...cardholder, last_name: "Refused" },
      card,
      options: { ...options, onFailure: "compensate" },
    });
    await starter(["onboard", "--file", name, "--id", id, "--wait", "--json"]);
  };

  it("shows what was undone", async () => {
    await undo("own-undone");
    expect(jsonOf(await starter(["runs", "show", "own-undone", "--json"]))).toMatchObject({
      state: "failed",
      steps: [
        fields({ name: "createCardholder", state: "completed" }),
        fields({
          name: "awaitVerification",
          state: "failed",
          events: listWith(fields({ activity: "removeCardholder", outcome: "done" })),
        }),
      ],
      failure: { type: "VerificationRefused" },
    });
  });

  it("shows what could not be undone, and claims nothing else", async () => {
    await simulator.addFault({ kind: "refusal-in-200", operation: "removeCardholder" });
    await undo("own-left-over");
    const [program, person] = await Promise.all([
      starter(["runs", "show", "own-left-over", "--json"]),
      starter(["runs", "show", "own-left-over"]),
    ]);
    expect(jsonOf(program)).toMatchObject({
      steps: listWith(
        fields({
          events: listWith({ kind: "leftOver", what: "remove the cardholder", at: anyText }),
        }),
      ),
      failure: {
        type: "CompensationIncomplete",
        details: { leftOver: [holding("remove the cardholder (")] },
      },
    });
    expect(person.stdout).toContain("undoing: could not remove the cardholder, ");
    expect(person.stdout.match(/✓ .*/g)).toEqual([holding("createCardholder")]);
    expect(tooWide(person.stdout)).toEqual([]);
  });

  it("needs no worker", async () => {
    const env = { PAYMENTS_TASK_QUEUE: "nobody-polls" };
    const name = await file("nobody.json", { beneficiary_id: "b-1", payout });
    await starter(["payout", "--file", name, "--id", "own-nobody"], { env });
    expect(jsonOf(await starter(["runs", "show", "own-nobody", "--json"]))).toMatchObject({
      state: "running",
      steps: [],
    });
    await workflow.getHandle("own-nobody").terminate("nobody came");
    expect(jsonOf(await starter(["runs", "show", "own-nobody", "--json"]))).toMatchObject({
      state: "terminated",
      failure: { type: "Terminated", message: "nobody came" },
    });
  });

  it("knows no run of that id, or run id", async () => {
    const [nobody, noRun] = await Promise.all([
      starter(["runs", "show", "nobody", "--json"]),
      starter(["runs", "show", "paid", "--run-id", "01a1fd5b-9a44-7252-9679-efb5e0d3d8a2"]),
    ]);
    expect([nobody.exitCode, noRun.exitCode]).toEqual([2, 2]);
    expect(jsonOf(nobody)).toEqual({
      error: { type: "BadInput", message: holding("no run with the id nobody") },
    });
    expect(noRun.stderr).toContain("and the run id");
  });
});

describe("watch", () => {
  it("follows a run until it ends, with its exit code", async () => {
    await payoutOf("own-watched", "40.00", { approval: { above: "25" } });
    const watching = starter(["watch", "own-watched", "--json"]);
    await found('WorkflowId = "own-watched" AND PaymentStage = "awaitApproval"');
    await workflow.getHandle("own-watched").executeUpdate("approve", {
      args: [{ by: "Bob", hash: await approvalHash("own-watched"), approve: true }],
    });
    const { exitCode, stderr, stdout } = await watching;
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      workflowId: "own-watched",
      runId: ID,
      state: "completed",
      result: fields({ amount: "40.00" }),
    });
    expect(stderr).not.toContain("\u001b");
  });

  it("ends at once where the run has ended", async () => {
    const [failed, nobody] = await Promise.all([
      starter(["watch", "refused"]),
      starter(["watch", "nobody"]),
    ]);
    expect(failed).toMatchObject({ exitCode: 1, stderr: "" });
    expect(failed.stdout).toContain("The run has failed");
    expect(nobody.exitCode).toBe(2);
  });

  it("can be interrupted; the run goes on", async () => {
    const { exitCode, stderr, stdout } = await starter(["watch", "waits", "--json"], {
      interruptAt: "… awaitFunds",
    });
    expect(exitCode).toBe(130);
    expect(JSON.parse(stdout)).toEqual({ workflowId: "waits", runId: ID, state: "waiting" });
    expect(stderr).toContain("the run goes on");
  });
});

// The last: the tests before need the worker.
describe("without a worker", () => {
  it("watch says once, within its sticky time-out, that it has stopped, and that it is back", async () => {
    const updates: Array<string> = [];
    const settings = temporalSettings({ TEMPORAL_ADDRESS: temporal.address });
    await withTemporal(settings, async (connected) => {
      const over = new AbortController();
      const onUpdate = ({ kind }: RunUpdate) => {
        if (kind !== "pending") updates.push(kind);
      };
      const watching = watchRun(connected, "waits", { onUpdate, over: over.signal });
      const seen = (kind: string) =>
        vi.waitFor(() => expect(updates).toContain(kind), { timeout: 120_000 });
      await seen("progress");
      updates.length = 0;
      await stopWorker();
      const stopped = Date.now();
      await seen("unanswered");
      expect(Date.now() - stopped).toBeLessThan(12_000);
      // It is said once, though it is asked again and again.
      await replaceWorker();
      await seen("answersAgain");
      over.abort();
      await watching;
    });
    expect(updates.slice(0, 2)).toEqual(["unanswered", "answersAgain"]);
  });

  it("a run that has ended looks as it does with one", async () => {
    const ofSteps = async (id: string) => {
      const [person, program] = await Promise.all([
        starter(["status", id]),
        starter(["status", id, "--json"]),
      ]);
      expect(person.stdout).not.toMatch(/Waits for|Next|under way/);
      const { pending, steps } = jsonOf(program);
      expect(pending).toEqual([]);
      // A step that is over at once writes nothing into the history.
      const statesOf = (all: unknown) =>
        (all as ReadonlyArray<Record<"name" | "state", string> & { readonly until?: unknown }>)
          .filter(({ name }) => name !== "checkRequests")
          .map(({ name, state, until = null }) => [name, state, until === null]);
      const shown = await starter(["runs", "show", id, "--json"]);
      expect(statesOf(steps)).toEqual(statesOf(jsonOf(shown)["steps"]));
      return statesOf(steps);
    };
    const before = await Promise.all(["paid", "refused"].map(ofSteps));
    await stopWorker();
    expect(await Promise.all(["paid", "refused"].map(ofSteps))).toEqual(before);
    expect(before[1]?.at(-1)).toEqual(["createPayout", "failed", false]);
    const waits = await starter(["status", "waits"]);
    expect(waits.stdout).toMatch(/✓ createCardholder/);
    expect(waits.stdout).toMatch(/… awaitFunds/);
    expect(waits.stdout).toContain("5000.00 USD");
  });
});
