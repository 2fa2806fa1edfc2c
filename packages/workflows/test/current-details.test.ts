import type { HumanTask, Progress } from "@durable-payments/protocol";
import { expect, it } from "vitest";
import { currentDetails } from "../src/run/current-details.ts";

const at = "2026-11-22T14:07:33.000Z";

const run = {
  workflowId: "invoice-17",
  runId: "r-1",
  summary: "Pay 20.00 EUR to the beneficiary b-1",
  amendedBy: [],
};

const progress = (change: Partial<Progress> = {}): Progress => ({
  workflow: "payout",
  stage: "createPayout",
  steps: [],
  ids: {},
  shown: {},
  notes: [],
  ...change,
});

const task: HumanTask = {
  question: "1-0badcafe",
  step: "createPayout",
  operation: "createPayout",
  reason: "No answer.",
  sent: { amount: "20.00", currency: "EUR", payout_reference: "Invoice 17" },
  candidates: [{ payout_id: "p-1" }],
  listRead: { times: 4, until: at },
  inDoubtSince: at,
  actions: ["found", "resend", "abandon"],
  consequences: {
    found: "the run goes on with that payout, nothing is sent",
    resend: "sends it again: pays twice if it was carried out",
    abandon: "the run fails",
  },
  idsWanted: ["payout_id"],
  since: at,
};

/** Markdown as it is read: what is escaped stands for itself. */
const unescaped = (markdown: string): string => markdown.replaceAll(/\\([!-/:-@[-`{-~])/g, "$1");

it("shows question, evidence, what each answer does, and the commands to paste", () => {
  const details = currentDetails(progress({ attention: task }), run);
  expect(unescaped(details).split("\n\n")).toEqual([
    "**Pay 20.00 EUR to the beneficiary b-1**",
    "### ! A person has to decide: createPayout",
    "Question 1-0badcafe, asked 2026-11-22 14:07:33 UTC",
    "No answer.",
    "It may have been sent since 2026-11-22 14:07:33 UTC.",
    "The service's list was read 4 times, until 2026-11-22 14:07:33 UTC: 1 may be it.",
    "**What was sent**",
    "- amount: 20.00\n- currency: EUR\n- payout_reference: Invoice 17",
    "**What may be it (1 of 1)**",
    "- payout_id: p-1",
    "**Decide, by one of**",
    "found: the run goes on with that payout, nothing is sent",
    "```sh\nstarter resolve invoice-17 \\\n  --run-id r-1 \\\n  --question 1-0badcafe \\\n  --by NAME \\\n  --found payout_id=ID\n```",
    "resend: sends it again: pays twice if it was carried out",
    "```sh\nstarter resolve invoice-17 \\\n  --run-id r-1 \\\n  --question 1-0badcafe \\\n  --by NAME \\\n  --resend\n```",
    "abandon: the run fails",
    "```sh\nstarter resolve invoice-17 \\\n  --run-id r-1 \\\n  --question 1-0badcafe \\\n  --by NAME \\\n  --abandon WHY\n```",
    "More: starter runs show invoice-17",
  ]);
});

it("shows a text of the service or a file word for word, with its controls made visible", () => {
  const hostile =
    "\u001b[2K\u202e40.00\n\n# Paid\n[ok](https://evil.example) `x` **y** <b> {runId}";
  const shown =
    "\\\\u\\{1b\\}\\[2K\\\\u\\{202e\\}40\\.00\\\\u\\{a\\}\\\\u\\{a\\}\\# Paid\\\\u\\{a\\}\\[ok\\]\\(https\\://evil\\.example\\) \\`x\\` \\*\\*y\\*\\* \\<b\\> \\{runId\\}";
  const details = currentDetails(
    progress({
      attention: {
        ...task,
        reason: hostile,
        sent: { payout_reference: hostile },
        candidates: [{ payout_reference: hostile }],
      },
      ids: { payout_id: hostile },
      notes: [hostile],
      steps: [{ name: "createPayout", status: "needsAttention", since: at, note: hostile }],
      shown: {
        approval: { hash: "h", payment: { to: hostile }, startedBy: hostile, since: at },
      },
    }),
    { ...run, summary: hostile, amendedBy: [hostile] },
  );
  expect(details).not.toContain(hostile);
  expect(details.replaceAll(/\n/g, "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(details.split(shown).length - 1).toBe(10);
});

it("shows a row of blanks by its length: no part of a reference stands where a field of its own does", () => {
  const sent = { amount: "9000.00", payout_reference: `Invoice${" ".repeat(75)}amount: 40.00` };
  const details = currentDetails(progress({ attention: { ...task, sent } }), run);
  expect(unescaped(details)).toContain("Invoice \\u{20}×75 amount: 40.00");
  expect(details).not.toMatch(/ {3}/);
});

it("ends the block of a command by nothing that stands in the id of the run", () => {
  const details = currentDetails(progress({ attention: task }), {
    ...run,
    workflowId: "a\n```\n# Paid",
  });
  expect(details).toContain(
    "````sh\nstarter resolve 'a\\u{a}```\\u{a}# Paid' \\\n  --run-id r-1 \\\n  --question",
  );
});

it("shows what an approval does, and the bank details of nobody", () => {
  const details = currentDetails(
    progress({
      shown: {
        approval: {
          hash: "h-1",
          payment: { amount: "20.00" },
          startedBy: "Ada",
          amendedBy: ["Bob"],
          amended: [{ field: "payout.amount", before: "900.00", after: "20.00" }],
          resentBy: ["Eve"],
          since: at,
        },
        "fund USD": { local: [{ account_number: "0123456789" }] },
      },
    }),
    { ...run, amendedBy: ["Bob"] },
  );
  expect(unescaped(details).split("\n\n")).toEqual([
    "**Pay 20.00 EUR to the beneficiary b-1, amended by Bob**",
    "### ! A second person has to approve",
    "Waits for the approval of a second person; started by Ada (names are as given, not verified). Asked 2026-11-22 14:07:33 UTC.",
    "- amount: 20.00",
    "Amended by Bob:",
    "- payout.amount: 900.00 → 20.00",
    "Sent again by Eve: if it was carried out before, this pays it twice.",
    "**Decide, by one of**",
    "approve: the run goes on, and sends exactly this",
    "```sh\nstarter approve invoice-17 --run-id r-1 --by NAME --hash h-1\n```",
    "reject: the run fails, and this is not sent",
    "```sh\nstarter approve invoice-17 \\\n  --run-id r-1 \\\n  --by NAME \\\n  --hash h-1 \\\n  --reject WHY\n```",
    "fund USD: bank details by starter status invoice-17",
    "More: starter runs show invoice-17",
  ]);
});

it("shows what is waited for and until when, and how the run has ended", () => {
  const waiting = {
    name: "awaitPayout",
    status: "waiting",
    since: at,
    waitsUntil: at,
    note: "waiting for the payout to complete",
  } as const;
  const open = currentDetails(progress({ stage: "awaitPayout", steps: [waiting] }), run);
  expect(open).toContain(
    "… **awaitPayout** waiting for the payout to complete (until 2026-11-22 14:07:33 UTC)",
  );
  const note = "payout p-1 complete at 2026-11-22 14:07:33";
  const done = currentDetails(
    progress({ stage: "done", steps: [{ ...waiting, status: "done", until: at, note }] }),
    run,
  );
  expect(unescaped(done)).toContain(`### ✓ Completed\n\n✓ **awaitPayout** ${note}`);
  expect(done).not.toContain("until");
});
