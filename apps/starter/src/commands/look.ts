import type { Check } from "@durable-payments/control/payments";
import { INSTALLED } from "../command-name.ts";
import { badUsage, EXIT_CODES, EXIT_CODES_TABLE, exitStatusHelp } from "../exit-codes.ts";
import { failing } from "./flag-sets.ts";
import { id, json, listed, on, text } from "./flags.ts";
import { command } from "./run-command.ts";

/** Checks of the doctor that the overview shows, besides those that are not well. */
const GLANCED = /^(?:.+: )?(?:service|Temporal|worker|ledger|tracker(?: of .+)?)$/;

const isGlanced = ({ name, status }: Check): boolean =>
  GLANCED.test(name) || status === "failed" || status === "warning";

const DOCTOR = { action: "doctor" } as const;

/** `durable-payments` without a command. */
export const overview = command(
  INSTALLED,
  { json },
  async (output, payments, _, work) => {
    const [{ checks }, seen] = await Promise.all([payments.doctor(), payments.overview()]);
    const nextOf = (of: Check["status"]) =>
      checks.flatMap(({ next, status }) =>
        status === of && (next ?? of === "failed") ? [next ?? DOCTOR] : [],
      );
    const next = [...nextOf("failed"), ...seen.next, ...nextOf("warning")];
    // Each remedy once.
    const offered = [...new Map(next.map((one) => [one.action, one])).values()].slice(0, 3);
    output.answer({ ...seen, checks: checks.filter(isGlanced), next: offered }, (shown) =>
      work.overviewText(shown),
    );
    return checks.some(({ status }) => status === "failed") ? EXIT_CODES.runFailed : undefined;
  },
  "Make payments and see their outcomes",
  `Make payments and see their outcomes. Without a command, it shows an overview.
  Like doctor, that ends with 1 if a check failed.

  Environment: TEMPORAL_ADDRESS (default localhost:7233), TEMPORAL_NAMESPACE,
  TEMPORAL_API_KEY, TEMPORAL_TLS_* and the profiles of TEMPORAL_CONFIG_FILE
  for Temporal; PAYMENTS_TASK_QUEUE (default payments) for the worker;
  PAYMENTS_LEDGER, or PAYMENTS_CLIENT_ID on the worker's host, for the ledger;
  TEMPORAL_UI_URL for links to the Web UI; PAYMENTS_PERSON for your name.
  Variables that are not set are read from the file .env of the current folder.`,
  {},
  EXIT_CODES_TABLE,
);

const { csv: _, ...formats } = listed;

/** `durable-payments inbox`: items that wait for a person. */
export const inbox = command(
  "inbox",
  formats,
  async (output, payments, given, work) => {
    const found = await payments.inbox();
    if (given.jsonl) output.lines(found.items);
    else output.answer(found, (shown) => work.inboxText(shown));
  },
  "Show questions and approvals that need a person",
  `Show everything that needs a person: questions, approvals of payments, files
  and limits, and what is stuck: late payouts, unknown statuses, lost
  runs, stalled files, accounts without a worker. Decisions about money come
  first, by currency, with larger sums and older items first. It needs only
  the ledger.`,
);

/** `durable-payments failed`: groups what failed. */
export const failed = command(
  "failed",
  failing,
  (output, payments, given, work) => work.showFailed(output, payments, given),
  "Show what failed, by step, kind of error and message",
  `Show failed runs in groups: by type, step, kind of error, and the message
  without its ids, numbers and amounts. Each group has its number of runs,
  its money, the first and the last end, and three ids. With a GROUP, show what a
  retry of it would do. The groups need only the ledger.

  --since and --until compare the start of a run, not its end: a run may fail days
  after its start. list --status failed --sort ended has the latest
  failures first.`,
  {
    "durable-payments failed": "All groups, the largest first",
    "durable-payments failed --since 24h --type onboardCardholder":
      "Onboardings started in the last day",
  },
);

const compared = {
  account: text("account", "NAME", "Account, by name; default: all accounts"),
  batch: text("batch", "ID", "Only what the rows of a file or a repair have made"),
  json,
};

/** Time between two lines that say what is waited for. */
const WAITING_EVERY_MS = 2_000;

/** `durable-payments duplicates`: whether a cardholder or a card exists twice. */
export const duplicates = command(
  "duplicates",
  compared,
  async (output, payments, given, work) => {
    // A service that hangs is asked again for two minutes.
    const waiting = setInterval(
      () => output.say("Waiting for the service's list of cardholders …"),
      WAITING_EVERY_MS,
    );
    const { account, batch } = given;
    const found = await payments
      .duplicates({ account, batch })
      .finally(() => clearInterval(waiting));
    output.answer(found, work.duplicatesText);
    return work.codeOfDuplicates(found);
  },
  "Prove that no cardholder and no card exists twice",
  `Compare the ledger with the service's list of cardholders: whether a person has
  several cardholders, or a cardholder has a card twice. It prints ids, and no
  personal data. It needs the ledger and the service, and changes nothing.`,
  {
    "durable-payments duplicates": "All accounts",
    "durable-payments duplicates --batch repairs/0123456789abcdef": "What a repair has made",
  },
  `Exit codes: 0 it is proved that there are none, 1 there are duplicates, 3 the ledger
  or the service cannot be reached, 4 it cannot be proved now, 2 usage, 5 not found.`,
);

const shown = {
  id,
  follow: on("follow", "Follow the run, or each row of the batch, to its end"),
  log: on("log", "Who did what: sends, outcomes, removals, decisions"),
  rows: on("rows", "Every row of a batch: payee, payout and outcome"),
  verify: on("verify", "With --log: check that nobody has edited it"),
  web: on("web", "Link to the run in Temporal's Web UI; at a terminal, open it"),
  exitStatus: on("exit-status", "Report the outcome in the exit code"),
  ...listed,
};

/** `durable-payments show ID`: one run, or one batch. */
export const show = command(
  "show",
  shown,
  async (output, payments, given, work) => {
    const { id, jsonl, verify: isVerified } = given;
    if (isVerified && !given.log) throw badUsage("--verify requires --log.");
    if (given.csv && !given.rows) throw badUsage("--csv requires --rows.");
    if (jsonl && !given.rows && !given.log) throw badUsage("--jsonl requires --rows or --log.");
    if (given.web) return work.showWeb(output, payments, id);
    if (given.log) {
      const log = await payments.log(id, { isVerified });
      if (jsonl) return output.lines(log.lines);
      return output.answer(log, work.logText);
    }
    // Without the ledger, Temporal says what it knows of a run.
    const isBatch = await payments.isBatch(id).catch((error: unknown) => {
      if (given.rows) throw error;
      return false;
    });
    if (given.rows && !isBatch) throw badUsage("--rows requires the id of a batch.");
    if (isBatch) {
      const batch = given.follow
        ? await work.followedBatch(output, payments, id, { isWhole: given.rows })
        : await payments.batch(id, { isWhole: given.rows });
      const { listed } = batch;
      if (jsonl && listed !== null) output.lines(listed);
      else if (given.csv && listed !== null)
        output.text(
          work.csvText(
            listed.map((row) => work.rowCsv(batch.id, row)),
            true,
          ),
        );
      else output.answer(batch, work.batchText);
      return given.exitStatus ? work.codeOfBatch(batch) : EXIT_CODES.done;
    }
    const run = given.follow
      ? await work.followedRun(output, payments, id)
      : await payments.show(id);
    output.answer(run, (view) => work.runText(view));
    return given.exitStatus ? work.codeOfRun(run) : EXIT_CODES.done;
  },
  "Show one run or batch, and possible actions",
  `Show one run: its status and the reason, each step, the open question with the
  consequences of each answer, and possible actions. Writes are read from the
  ledger, and progress from Temporal. For a batch, show rows and money by
  outcome, and each row that is not paid with the reason; --rows shows all rows.
  If it needs approval, show whom it pays: sums, new payees, the largest rows,
  likely duplicates. A batch needs only the ledger.`,
  {
    "durable-payments show invoice-17": "One run",
    "durable-payments show invoice-17 --follow": "Until it ends",
    "durable-payments show invoice-17 --log --verify": "Who did what",
    "durable-payments show payouts/ID --rows --csv": "The result of a file, row by row",
  },
  exitStatusHelp("--exit-status"),
);
