import type { HumanTask, Progress, StepProgress } from "@durable-payments/protocol";
import { afterEach, expect, it, vi } from "vitest";
import { progressLines } from "../src/output/progress-lines.ts";

afterEach(() => vi.unstubAllEnvs());

const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1000).toISOString();

const done: StepProgress = {
  name: "createCardholder",
  status: "done",
  since: at(0),
  until: at(0.3),
  note: "creating the cardholder",
};

const waiting: StepProgress = {
  name: "awaitVerification",
  status: "waiting",
  since: at(1),
  note: "waiting for the identity check",
};

const progress = (change: Partial<Progress>): Progress => ({
  workflow: "onboardCardholder",
  stage: "awaitVerification",
  steps: [],
  ids: {},
  shown: {},
  notes: [],
  ...change,
});

const run = { workflowId: "id", runId: "r-1" };

const attention: HumanTask = {
  question: "1-0badcafe",
  step: "createPayout",
  operation: "createPayout",
  reason: "No answer. Some payouts may be this one.",
  sent: { amount: "250.00", currency: "EUR" },
  candidates: [{ payout_id: "p-1" }, { payout_id: "p-2" }],
  actions: ["found", "resend", "abandon"],
  consequences: {
    found: "the run goes on with that payout, nothing is sent",
    resend: "sends it again: pays twice if it was carried out",
    abandon: "the run fails",
  },
  listRead: { times: 4, until: at(1) },
  inDoubtSince: at(0),
  idsWanted: ["payout_id"],
  since: at(2),
};

it("shows each change once", () => {
  const first = progress({ steps: [done, waiting] });
  expect(progressLines(run, undefined, first)).toEqual([
    "✓ createCardholder 300ms",
    "… awaitVerification waiting for the identity check",
  ]);
  expect(progressLines(run, first, first)).toEqual([]);
  const ended = { ...waiting, status: "failed", until: at(62) } as const;
  expect(progressLines(run, first, progress({ steps: [done, ended] }))).toEqual([
    "✗ awaitVerification 1m 1s",
  ]);
});

it("shows by which bank details a balance is funded", () => {
  const shown = {
    "fund USD": {
      local: [{ account_holder: "Example Ltd", account_number: "0123456789" }],
      swift: [],
      status: "opened",
    },
  };
  expect(progressLines(run, undefined, progress({ shown }))).toEqual([
    "  fund USD, local (1 of 1):",
    "    account_holder  Example Ltd\n    account_number  0123456789",
    "  fund USD, status: opened",
  ]);
  expect(progressLines(run, progress({ shown }), progress({ shown }))).toEqual([]);
});

it("shows the payment that waits for a second person, and how to decide", () => {
  const approval = {
    payment: { amount: "30.00", currency: "EUR" },
    hash: "h-1",
    startedBy: "Ada",
    since: at(0),
  };
  expect(progressLines(run, undefined, progress({ shown: { approval } }))).toEqual([
    "  Waits for the approval of a second person; started by Ada (names are as given,\n  not verified).",
    "    amount    30.00\n    currency  EUR",
    "  Decide, by one of:",
    "    approve: the run goes on, and sends exactly this",
    "      starter approve id --run-id r-1 --by NAME --hash h-1",
    "    reject: the run fails, and this is not sent",
    "      starter approve id --run-id r-1 --by NAME --hash h-1 --reject WHY",
  ]);
});

it("shows what was amended and sent again of a payment that waits for a second person", () => {
  const approval = {
    why: "above 100.00 EUR (PAYMENTS_APPROVE_ABOVE)",
    payment: { amount: "30.00", account: "…4321", paid_before: "never, as the journal has it" },
    hash: "h-1",
    startedBy: "Ada",
    amendedBy: ["Carol"],
    amended: [{ field: "payout.amount", before: "3.00", after: "30.00" }],
    resentBy: ["Dave"],
    since: at(0),
  };
  expect(progressLines(run, undefined, progress({ shown: { approval } })).slice(0, 5)).toEqual([
    "  Waits for the approval of a second person: above 100.00 EUR\n  (PAYMENTS_APPROVE_ABOVE); started by Ada (names are as given, not verified).",
    "    amount       30.00\n    account      …4321\n    paid_before  never, as the journal has it",
    "  Amended by Carol:",
    "    payout.amount  3.00 → 30.00",
    "  Sent again by Dave: if it was carried out before, this pays it twice.",
  ]);
});

it("shows what was sent before apart from what would be sent now", () => {
  const reported = progressLines(
    run,
    undefined,
    progress({
      attention: { ...attention, candidates: [], toSend: { amount: "46.20", currency: "EUR" } },
    }),
  );
  expect(reported.slice(3, 7)).toEqual([
    "  What was sent before, as the journal has it:",
    "    amount    250.00\n    currency  EUR",
    "  What was not sent, and is to be sent now:",
    "    amount    46.20\n    currency  EUR",
  ]);
});

it("shows what can be decided, in commands that can be copied", () => {
  const asking = progress({
    steps: [{ name: "createPayout", status: "needsAttention", since: at(0), note: "No answer." }],
    attention,
  });
  expect(progressLines({ ...run, workflowId: "invoice 1" }, undefined, asking)).toEqual([
    "! createPayout",
    "  createPayout needs a person since 2027-01-15 08:00:02 UTC: No answer. Some\n  payouts may be this one.",
    "  It may have been sent since 2027-01-15 08:00:00 UTC.",
    "  The service's list was read 4 times, until 2027-01-15 08:00:01 UTC: 2 may be\n  it.",
    "  What was sent:",
    "    amount    250.00\n    currency  EUR",
    "  What may be it (1 of 2):",
    "    payout_id  p-1",
    "  What may be it (2 of 2):",
    "    payout_id  p-2",
    "  Decide, by one of:",
    "    found: the run goes on with that payout, nothing is sent",
    "      starter resolve 'invoice 1' \\\n        --run-id r-1 \\\n        --question 1-0badcafe \\\n        --by NAME \\\n        --found payout_id=ID",
    "    resend: sends it again: pays twice if it was carried out",
    "      starter resolve 'invoice 1' \\\n        --run-id r-1 \\\n        --question 1-0badcafe \\\n        --by NAME \\\n        --resend",
    "    abandon: the run fails",
    "      starter resolve 'invoice 1' \\\n        --run-id r-1 \\\n        --question 1-0badcafe \\\n        --by NAME \\\n        --abandon WHY",
  ]);
  expect(progressLines({ ...run, workflowId: "invoice 1" }, asking, asking)).toEqual([]);
  vi.stubEnv("STARTER_COMMAND", "./starter");
  expect(progressLines({ ...run, workflowId: "i" }, undefined, asking).at(-1)).toMatch(
    /^ {6}\.\/starter resolve i /,
  );
});
