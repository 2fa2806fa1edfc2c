import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkout } from "../src/processes.ts";

// SECURITY.md says what each credential can do. A sentence about security that no test checks is a hope, so each line of
// that table names here the tests that check it: the file, and the words by which the file names the test.

const ON_DECISIONS = "packages/control/test/one-person/on-decisions.ts";
const ON_REQUESTS = "packages/control/test/one-person/on-requests.ts";
const BY_TEMPORAL = "packages/control/test/one-person/by-temporal.ts";
const BY_FILES = "packages/control/test/one-person/by-files.ts";
const BY_LIMITS = "packages/control/test/one-person/by-limits.ts";
const BY_SCHEDULES = "packages/control/test/one-person/by-schedules.ts";
const ONE_PERSON = "packages/control/test/one-person.test.ts";
const ROLES = "packages/ledger/test/store/postgres-roles.test.ts";
const CODEC_SERVER = "packages/codec/test/codec-server.test.ts";

/** The tests of each line, by its two cells. */
const TESTS: Readonly<Record<string, ReadonlyArray<readonly [file: string, title: string]>>> = {
  "Temporal alone: start what the policy allows, and each key once": [
    [ONE_PERSON, "control: a small payment is paid without anybody"],
    [BY_SCHEDULES, "pays an approved key again by Schedules: fired by hand, backfilled, by two"],
  ],
  "Temporal alone: get nothing approved, because the ledger has no record of the start": [
    [BY_TEMPORAL, "starts without a starter"],
    [BY_TEMPORAL, "forges the starter in the memo"],
  ],
  "Temporal alone: terminate, reset and start again, which pays nothing twice": [
    [BY_TEMPORAL, "resets a payment that was approved and made to before its steps"],
    [BY_TEMPORAL, "starts the id of a payment that was made once more"],
  ],
  "Temporal alone: forge signals, completions and inputs of activities, which neither pay nor block":
    [
      [BY_TEMPORAL, "a forged signal: "],
      [BY_TEMPORAL, "completes createPayout by hand"],
      [BY_TEMPORAL, "calls the activity with garbage: "],
    ],
  "the ledger and Temporal: pay and retry, for every account of the ledger": [
    [ONE_PERSON, "control: an approved payment is paid"],
  ],
  "the ledger and Temporal: amend what was approved, which asks again": [
    [ON_REQUESTS, "amends an approved payment: "],
    [BY_FILES, "amends an approved row that the service refused"],
  ],
  "the ledger and Temporal: get nothing approved under another person's start, by starting its id again":
    [
      [BY_TEMPORAL, "starts the id of a dispatcher again, with another payment"],
      [BY_TEMPORAL, "starts the id of a dispatcher again, and retries that with another payment"],
      [BY_TEMPORAL, "starts the id of an amended payment again, with another payee"],
    ],
  "the ledger: approve, reject, answer, cancel, pause and resume, under any name": [
    [ONE_PERSON, "control: each row of an approved file is paid"],
  ],
  "the ledger: approve no payment of one's own, in any spelling of the name": [
    [ON_DECISIONS, "approves himself"],
    [ON_DECISIONS, "overrules a stop order on another person's payment, and approves himself"],
    [BY_FILES, "approves his own file"],
  ],
  "the ledger: tighten limits; a second person must approve a loosening": [
    [BY_LIMITS, "loosens the limits alone"],
    [BY_LIMITS, "loosens the limits and approves that"],
  ],
  "a column of the ledger, by SQL: permit nothing, because only the chained log permits money": [
    [BY_FILES, "changes a column of a file that waits for its approval: "],
    [BY_FILES, "changes a column of a run that waits for an approval: runs.started_by"],
  ],
  "the role `payments_worker`: send, record, and retry for a repair, but not decide, pause or resume":
    [
      [ROLES, "a worker sends, waits and records outcomes"],
      [ROLES, "a worker neither decides nor pauses nor resumes"],
    ],
  "the role `payments_approver`: decide and upload, but not alter a table or a line of the log": [
    [ROLES, "an approver decides, pauses, and resumes"],
  ],
  "the role `payments_reader`: read everything, and change nothing": [
    [ROLES, "a reader sees what the ledger has"],
    [ROLES, "a reader writes nothing"],
  ],
  "the service's API key: move money without this project": [
    [ONE_PERSON, "the check finds a payout that nobody has allowed"],
    [ON_DECISIONS, "of the payee after the approval"],
  ],
  "the settings of a worker: tighten what its own sends obey, and loosen nothing": [
    [BY_LIMITS, "starts a worker with higher limits last"],
    [BY_LIMITS, "starts a worker without settings last"],
  ],
  "the keyring: read what is encrypted, with access to the storage": [
    ["packages/codec/test/temporal.test.ts", "whoever has the keys reads and replays its history"],
  ],
  "the codec server: read decrypted payloads, masked by role": [
    [CODEC_SERVER, "encodes for an editor, decodes for a reader, and masks for the masked role"],
  ],
  "the metrics port: read counts, sums, limits, account names and ids of open files": [
    ["apps/worker/test/metrics.test.ts", "a worker exports the metrics of docs/metrics.md"],
  ],
  "the webhook: read ids, amounts, references and reasons, but no account number or payee": [
    ["packages/activities/test/notifications.test.ts", "with their facts and without a payee"],
  ],
};

const read = (file: string) => readFileSync(join(checkout, file), "utf8");

const linesOfTable = (): ReadonlyArray<string> => {
  const [, section = ""] = read("SECURITY.md").split("\n## Who can do what\n");
  const rows = section.split("\n## ")[0]?.matchAll(/^\| (.+?) +\| (.+?) +\|$/gmu) ?? [];
  const lines = Array.from(rows, ([, access, can]) => `${access}: ${can}`);
  return lines.filter((line) => !/^(?:access to: can$|-)/u.test(line));
};

it("each line of what a credential can do has tests, and no test is of a line that is gone", () => {
  expect(linesOfTable().toSorted()).toEqual(Object.keys(TESTS).toSorted());
});

it.each(Object.entries(TESTS))("%s", (_, tests) => {
  const isTitle = (file: string, title: string) =>
    read(file)
      .split("\n")
      .some((line) => line.includes(title) && /["`]/u.test(line.split(title)[0] ?? ""));
  expect(tests.filter(([file, title]) => !isTitle(file, title))).toEqual([]);
});
