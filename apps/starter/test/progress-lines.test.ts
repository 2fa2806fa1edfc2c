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

const attention: HumanTask = {
  question: "1-0badcafe",
  step: "createPayout",
  reason: "No answer. Some payouts may be this one.",
  sent: { amount: "250.00", currency: "EUR" },
  candidates: [{ payout_id: "p-1" }, { payout_id: "p-2" }],
  actions: ["found", "resend", "abandon"],
  idsWanted: ["payout_id"],
  since: at(2),
};

it("shows each change once", () => {
  const first = progress({ steps: [done, waiting] });
  expect(progressLines("id", undefined, first)).toEqual([
    "✓ createCardholder 300ms",
    "… awaitVerification waiting for the identity check",
  ]);
  expect(progressLines("id", first, first)).toEqual([]);
  const ended = { ...waiting, status: "failed", until: at(62) } as const;
  expect(progressLines("id", first, progress({ steps: [done, ended] }))).toEqual([
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
  expect(progressLines("id", undefined, progress({ shown }))).toEqual([
    "  fund USD, local, 0:",
    "    account_holder  Example Ltd\n    account_number  0123456789",
    "  fund USD, status: opened",
  ]);
  expect(progressLines("id", progress({ shown }), progress({ shown }))).toEqual([]);
});

it("shows the payment that waits for a second person, and how to decide", () => {
  const approval = {
    payment: { amount: "30.00", currency: "EUR" },
    hash: "h-1",
    startedBy: "Ada",
    since: at(0),
  };
  expect(progressLines("id", undefined, progress({ shown: { approval } }))).toEqual([
    "  Waits for the approval of a second person; started by Ada.",
    "    amount    30.00\n    currency  EUR",
    "  Decide, by one of:",
    "    starter approve id --by NAME --hash h-1",
    "    starter approve id --by NAME --hash h-1 --reject WHY",
  ]);
});

it("shows what was sent before apart from what would be sent now", () => {
  const reported = progressLines(
    "i",
    undefined,
    progress({
      attention: { ...attention, candidates: [], toSend: { amount: "46.20", currency: "EUR" } },
    }),
  );
  expect(reported.slice(1, 5)).toEqual([
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
  expect(progressLines("invoice 1", undefined, asking)).toEqual([
    "! createPayout",
    "  createPayout needs a person: No answer. Some payouts may be this one.",
    "  What was sent:",
    "    amount    250.00\n    currency  EUR",
    "  What may be it (1 of 2):",
    "    payout_id  p-1",
    "  What may be it (2 of 2):",
    "    payout_id  p-2",
    "  Decide, by one of:",
    "    starter resolve 'invoice 1' \\\n      --question 1-0badcafe \\\n      --by NAME \\\n      --found payout_id=ID",
    "    starter resolve 'invoice 1' --question 1-0badcafe --by NAME --resend",
    "    starter resolve 'invoice 1' --question 1-0badcafe --by NAME --abandon WHY",
  ]);
  expect(progressLines("invoice 1", asking, asking)).toEqual([]);
  vi.stubEnv("STARTER_COMMAND", "./starter");
  expect(progressLines("i", undefined, asking).at(-2)).toBe(
    "    ./starter resolve i --question 1-0badcafe --by NAME --resend",
  );
});
