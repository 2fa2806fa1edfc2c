import { type Journal, openJournal, type Send } from "@durable-payments/journal";
import { serviceQueue } from "@durable-payments/protocol";
import { clientHash } from "@durable-payments/protocol/account";
import {
  beneficiary,
  csv,
  fields,
  like,
  listWith,
  makeRows,
  payout,
  tooWide,
} from "@durable-payments/tools/test-data";
import { Worker } from "@temporalio/worker";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { checkLag, describeEcho } from "@durable-payments/operations/doctor";
import { makeRig } from "./support/rig.ts";
import { jsonOf } from "./support/starter.ts";

// A busy machine takes its time.

const { file, found, service, simulator, starter, temporal } = await makeRig({
  settleAfter: 0,
  balances: { EUR: "1000000.00" },
});
const client = clientHash({ clientId: service.PAYMENTS_CLIENT_ID });
const journalFile = (): string =>
  join(process.env["XDG_STATE_HOME"] ?? "", "durable-payments", `${client}.sqlite`);

const send: Send = {
  workflowId: "payout/lost",
  step: "createPayout",
  number: 1,
  operation: "createPayout",
  runId: "00000000-0000-4000-8000-000000000000",
  payloadHash: "hash",
  amount: "12.00",
  currency: "EUR",
};

/** Opens the worker's journal, as another worker of this host would. */
const withJournal = async (use: (journal: Journal) => Promise<void>): Promise<void> => {
  const journal = await openJournal({ _tag: "File", file: journalFile() }, client);
  try {
    await use(journal);
  } finally {
    await journal.close();
  }
};

const checksOf = async (env: Readonly<Record<string, string>>) => {
  const called = await starter(["doctor", "--json"], { env });
  return { exitCode: called.exitCode, checks: jsonOf(called)["checks"], stdout: called.stdout };
};

describe("the doctor", () => {
  it("shows where the journal is, and that a file serves one host", async () => {
    // A worker that has just started has no tracker yet. A warning is no failure.
    const checks = await vi.waitFor(
      async () => {
        const { checks: made, exitCode, stdout: printed } = await checksOf(service);
        expect({ exitCode, printed }).toMatchObject({ exitCode: 0 });
        return made;
      },
      { timeout: 120_000 },
    );
    expect(checks).toEqual(
      listWith(
        fields({
          name: "journal of sends",
          status: "warning",
          detail: `the file ${journalFile()}, which serves the workers of this host alone, and is lost with it`,
        }),
        fields({ name: "lag of lists", status: "ok" }),
        fields({ name: "keys in answers", status: "ok" }),
      ),
    );
    const { stdout } = await starter(["doctor"], { env: service });
    expect(stdout).toMatch(/^warning +journal of sends\s+the file\s/m);
    expect(stdout).toContain(journalFile());
    expect(tooWide(stdout.replace(journalFile(), ""))).toEqual([]);
  });

  it("warns where workers of several hosts have files of their own", async () => {
    const { nativeConnection: connection } = temporal;
    const options = {
      connection,
      taskQueue: serviceQueue("payments"),
      identity: "77@another-host",
    };
    const worker = await Worker.create({
      ...options,
      activities: { other: async () => undefined },
    });
    const checks = await worker.runUntil(() =>
      vi.waitUntil(
        async () => {
          const found = await checksOf(service);
          return found.stdout.includes("another-host") ? found.checks : undefined;
        },
        { timeout: 120_000 },
      ),
    );
    expect(checks).toEqual(
      listWith(
        fields({
          name: "journal of sends",
          status: "warning",
          detail: like(/workers poll from 2 hosts, another-host, .*: none of them knows what/),
          remedy: like(/PostgreSQL/),
        }),
      ),
    );
  });

  it.each([
    ["mysql://secret@host", "failed", /PAYMENTS_JOURNAL must be sqlite:FILE/],
    ["postgres://u:secret@127.0.0.1:1/d", "failed", /127\.0\.0\.1:1\/d cannot be used/],
    ["sqlite:/nowhere/journal.sqlite", "warning", /there is no file \/nowhere\/journal\.sqlite/],
    ["none", "warning", /PAYMENTS_JOURNAL is none/],
  ])(
    "of PAYMENTS_JOURNAL=%s shows what is wrong, and no password",
    async (setting, status, words) => {
      const { checks, exitCode, stdout } = await checksOf({
        ...service,
        PAYMENTS_JOURNAL: setting,
      });
      expect(checks).toEqual(
        listWith(fields({ name: "journal of sends", status, detail: like(words) })),
      );
      expect(exitCode).toBe(status === "failed" ? 1 : 0);
      expect(stdout).not.toContain("secret");
    },
  );

  it("compares the lag that was seen with what is assumed", async () => {
    const seen = (listPayouts: number) => ({
      listLag: async (list: string) => (list === "listPayouts" ? listPayouts : 0),
    });
    expect(await checkLag(seen(2_100), 3)).toMatchObject({
      status: "ok",
      detail: "longest seen: listPayouts 2.1 s, listCardholders 0.0 s; listLagSeconds is 3",
    });
    expect(await checkLag(seen(3_100), 3)).toMatchObject({ status: "warning" });
    expect(describeEcho({ same: 2, other: 1, none: 0 })).toBe(
      "answers of createPayout: our own key in 2, another in 1, none in 0",
    );
  });
});

describe("payouts import", () => {
  const rows = makeRows("old", 3);
  const forget = (workflowId: string) =>
    temporal.connection.workflowService.deleteWorkflowExecution({
      namespace: "default",
      workflowExecution: { workflowId },
    });
  const payouts = async () => (await simulator.state()).payouts;

  it("reports that rows that Temporal has forgotten were paid, and pays none again", async () => {
    const first = await file("old.csv", csv(rows));
    expect(await starter(["payouts", "import", first, "--wait"])).toMatchObject({ exitCode: 0 });
    const paid = await payouts();
    expect(paid).toHaveLength(3);
    await Promise.all(rows.map(({ key }) => forget(`payout/${key}`)));
    const second = await file("again.csv", csv([...rows, ...makeRows("new", 1)]));
    const dryRun = () =>
      starter(["payouts", "import", second, "--dry-run", "--json"], { env: service });
    await expect
      .poll(async () => jsonOf(await dryRun()), { timeout: 120_000 })
      .toMatchObject({ known: 0, new: 4, paidBefore: 3 });

    const result = first.replace("old.csv", "old-result.csv");
    const batch = jsonOf(await starter(["payouts", "import", first, "--dry-run", "--json"]))[
      "workflowId"
    ];
    await starter(["payouts", "status", String(batch), "--result", result], { env: service });
    const outcomes = (await readFile(result, "utf8")).trimEnd().split("\n").slice(1);
    expect(outcomes).toHaveLength(3);
    for (const outcome of outcomes) {
      expect(outcome).toMatch(/,[^,]+,forgotten,"its payout was created, as the journal has it",/);
    }

    const again = await starter(["payouts", "import", second, "--wait"], { env: service });
    expect(again.stderr).toContain("Paid before: 3 of the new rows, as the journal knows");
    expect(again.exitCode).toBe(0);
    expect(await payouts()).toHaveLength(4);
    expect((await payouts()).map(({ payout_id }) => payout_id)).toEqual(
      expect.arrayContaining(paid.map(({ payout_id }) => payout_id)),
    );
  });

  it("starts no run whose id Temporal has forgotten, and shows what it has of it", async () => {
    const name = await file("single.json", { beneficiary, payout: { ...payout, amount: "77.00" } });
    const pay = (id: string, ...more: ReadonlyArray<string>) =>
      starter(["payout", "--file", name, "--id", id, ...more], { env: service });
    expect(await pay("forgotten", "--wait")).toMatchObject({ exitCode: 0 });
    await withJournal(async (journal) => {
      await journal.begin({ ...send, workflowId: "unanswered" });
    });
    const before = await payouts();
    const made = before.find(({ amount }) => amount === "77.00");
    await forget("forgotten");
    await found('WorkflowId = "forgotten"', 0);
    // Long before the namespace's retention.
    const database = new DatabaseSync(journalFile());
    const age = 400 * 24 * 60 * 60 * 1000;
    database
      .prepare(
        "UPDATE sends SET begun_at = begun_at - ?1, settled_at = settled_at - ?1 WHERE workflow_id IN ('forgotten', 'unanswered')",
      )
      .run(age);
    database.close();

    const [person, program, unanswered] = await Promise.all([
      pay("forgotten"),
      pay("forgotten", "--json", "--wait"),
      pay("unanswered", "--json"),
    ]);
    expect(program).toMatchObject({ exitCode: 0, stderr: "" });
    expect(jsonOf(program)).toMatchObject({
      workflowId: "forgotten",
      state: "forgotten",
      isNew: false,
      isDone: true,
      sends: listWith(
        fields({
          step: "createPayout",
          outcome: "carriedOut",
          amount: "77.00",
          ids: fields({ payout_id: made?.payout_id }),
        }),
      ),
    });
    expect(person.exitCode).toBe(0);
    expect(person.stdout.replaceAll(/\s+/g, " ")).toContain(
      "Temporal has forgotten it, since its retention is over; the journal has what it sent. Nothing was started.",
    );
    expect(person.stdout).toContain(`payout_id ${made?.payout_id}`);
    expect(tooWide(person.stdout)).toEqual([]);
    expect(unanswered.exitCode).toBe(1);
    expect(jsonOf(unanswered)).toMatchObject({
      state: "forgotten",
      isDone: false,
      sends: [{ outcome: "begun" }],
    });
    for (const id of ["forgotten", "unanswered"]) {
      await expect(temporal.client.workflow.getHandle(id).describe()).rejects.toThrow("not found");
    }
    expect(await payouts()).toEqual(before);
  });

  it("takes no key for another payment that the journal has, and shows what is in doubt", async () => {
    const one = makeRows("kept", 1);
    const first = await file("kept.csv", csv(one));
    expect(await starter(["payouts", "import", first, "--wait"])).toMatchObject({ exitCode: 0 });
    await forget("payout/kept-0");
    await found('WorkflowId = "payout/kept-0"', 0);
    const before = (await payouts()).length;
    const changes = [{ amount: "7.00" }, { currency: "USD" }, { payout_reason: "Other goods" }];
    for (const change of changes) {
      const other = one.map((row) => ({ ...row, payout: { ...row.payout, ...change } }));
      const path = await file("other.csv", csv([...other, ...makeRows("fresh", 1)]));
      for (const flag of ["--dry-run", "--wait"]) {
        const called = await starter(["payouts", "import", path, "--json", flag], { env: service });
        expect(called.exitCode).toBe(2);
        expect(jsonOf(called)).toMatchObject({
          error: {
            faults: [
              {
                row: 2,
                column: "key",
                problem:
                  "kept-0 was used for another payment, payout/kept-0, as the journal has it",
              },
            ],
          },
        });
      }
    }
    expect(await payouts()).toHaveLength(before);

    await withJournal(async (journal) => {
      const doubted = { ...send, workflowId: "payout/doubt-0", amount: "1.0" };
      await journal.begin(doubted);
    });
    const doubt = await file("doubt.csv", csv(makeRows("doubt", 1)));
    const dry = ["payouts", "import", doubt, "--dry-run"];
    expect(jsonOf(await starter([...dry, "--json"], { env: service }))).toMatchObject({
      new: 1,
      paidBefore: 0,
      inDoubt: 1,
    });
    const reported = await starter(dry, { env: service });
    expect(reported.stdout.replaceAll(/\s+/g, " ")).toContain(
      "in doubt 1 of the new rows: sent before, and the journal has no answer",
    );
    expect(tooWide(reported.stdout)).toEqual([]);
  });

  it("reports that it cannot know where it does not know whose journal it is", async () => {
    const unknown = await file("unknown.csv", csv(makeRows("unknown", 1)));
    const { stdout } = await starter(["payouts", "import", unknown, "--dry-run"]);
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(
      "whether new rows were paid before is not known here (PAYMENTS_CLIENT_ID is not set here",
    );
  });
});

describe("recover", () => {
  let since: string;
  beforeAll(() => {
    since = new Date().toISOString();
  });
  const recover = (...more: ReadonlyArray<string>) =>
    starter(["recover", "--since", since, "--by", "Ada", ...more], { env: service });

  it("lets sends go on where nothing is lost", async () => {
    const { exitCode, stdout } = await recover("--yes");
    expect(stdout).toContain("Sends go on.");
    expect(exitCode).toBe(0);
  });

  it("leaves sends paused where what was lost is unclear, and shows what to do", async () => {
    await withJournal(async (journal) => {
      await journal.begin(send);
      const refused = await journal.begin({ ...send, workflowId: "payout/refused" });
      if (refused._tag === "Begun") await refused.send.recordOutcome("notCarriedOut");
    });
    const called = await recover("--yes");
    expect(called.exitCode).toBe(1);
    expect(called.stdout).toMatch(/payout\/lost: UNCLEAR/);
    expect(called.stdout).toMatch(/createPayout of 12\.00 EUR, .* UNCLEAR;\s+not found by its key/);
    expect(called.stdout).toMatch(/payout\/refused: not made/);
    expect(called.stdout).toContain("starter payout --file FILE --id payout/lost");
    expect(called.stdout.replaceAll(/\s+/g, " ")).toMatch(
      /Sends are paused by Ada since .*: recovering what was sent since .* Not everything is clear/,
    );
    const doctor = await checksOf(service);
    expect(doctor.checks).toEqual(
      listWith(
        fields({ name: "sends", status: "failed", detail: like(/recovering what was sent/) }),
      ),
    );
    expect(await starter(["resume", "--by", "Ada"])).toMatchObject({ exitCode: 0 });
  });

  it("has a run retried of which Temporal knows an earlier one", async () => {
    const workflowId = "payout/retried-since";
    const earlier = await temporal.client.workflow.start("payout", {
      workflowId,
      taskQueue: "nobody-polls",
      args: [{}],
    });
    await earlier.terminate();
    await withJournal(async (journal) => {
      await journal.begin({ ...send, workflowId, key: "another-key" });
    });
    const { stdout } = await recover();
    expect(stdout).toContain(`starter runs retry ${workflowId} --by NAME`);
    expect(stdout).not.toContain(`--id ${workflowId}`);
    expect(await starter(["resume", "--by", "Ada"])).toMatchObject({ exitCode: 0 });
  });

  it("reports that what a list cannot show is unclear, and goes on", async () => {
    await withJournal(async (journal) => {
      await journal.begin({ ...send, workflowId: "payout/unlisted", key: "no-such-key" });
    });
    await simulator.setTemperament({ totals: "missing" });
    const called = await recover("--json");
    await simulator.setTemperament({});
    expect(called.exitCode).toBe(1);
    expect(jsonOf(called)["lost"]).toEqual(
      listWith(
        fields({
          workflowId: "payout/unlisted",
          sends: listWith(fields({ reconciliation: "unclear", service: like(/do not add up/) })),
        }),
      ),
    );
    expect(await starter(["resume", "--by", "Ada"])).toMatchObject({ exitCode: 0 });
  });

  it("does not end a pause that somebody made for another reason", async () => {
    const later = new Date().toISOString();
    await starter(["pause", "a bad file", "--by", "Bob"]);
    const args = ["recover", "--since", later, "--by", "Ada", "--yes"];
    const called = await starter(args, { env: service });
    expect(called.exitCode).toBe(1);
    expect(called.stdout.replaceAll(/\s+/g, " ")).toMatch(
      /Sends are paused by Bob since .*: a bad file\. Everything is clear\./,
    );
    expect(await starter(["resume", "--by", "Bob"])).toMatchObject({ exitCode: 0 });
  });

  it("finds by its key what was made and never answered", async () => {
    const [made] = await payouts();
    await withJournal(async (journal) => {
      await journal.begin({
        ...send,
        workflowId: "payout/unanswered",
        key: made?.unique_request_id ?? "",
      });
    });
    const { lost } = jsonOf(await recover("--json"));
    expect(lost).toEqual(
      listWith(
        fields({
          workflowId: "payout/unanswered",
          reconciliation: "made",
          sends: listWith(fields({ reconciliation: "made", ids: { payout_id: made?.payout_id } })),
        }),
      ),
    );
  });

  it("does not take another journal for that of the workers", async () => {
    const other = join(process.env["XDG_STATE_HOME"] ?? "", "other.sqlite");
    await (await openJournal({ _tag: "File", file: other }, client)).close();
    const env = { ...service, PAYMENTS_JOURNAL: `sqlite:${other}` };
    const called = await starter(["recover", "--since", "1h", "--by", "Ada", "--yes", "--json"], {
      env,
    });
    expect(called.exitCode).toBe(1);
    expect(jsonOf(called)).toMatchObject({
      isClear: false,
      isReleased: false,
      unrecorded: listWith(fields({ steps: listWith(fields({ operation: "createPayout" })) })),
    });
  });

  it("does nothing without a journal", async () => {
    const env = { ...service, PAYMENTS_JOURNAL: "none" };
    const { exitCode, stderr } = await starter(["recover", "--since", "1h", "--by", "Ada"], {
      env,
    });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/The journal cannot be read: PAYMENTS_JOURNAL is none/);
  });

  const payouts = async () => (await simulator.state()).payouts;
});
