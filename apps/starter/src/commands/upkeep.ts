import { Command } from "effect/cli";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { badUsage, EXIT_CODES } from "../exit-codes.ts";
import { confirmed, file, json, maybeId, on, past, person, text, time } from "./flags.ts";
import { command, described, runCommand } from "./run-command.ts";

const examined = {
  testWebhook: on("test-webhook", "Post one test notification from a worker"),
  json,
};

/** `durable-payments doctor`: checks the installation. */
export const doctor = command(
  "doctor",
  examined,
  async (output, payments, given, work) => {
    if (given.testWebhook) {
      const delivery = await payments.upkeep.testWebhook();
      output.answer(delivery, ({ host, isDelivered, status, tookMs, why }) =>
        isDelivered
          ? `Delivered to ${host ?? "the webhook"}: status ${status ?? "none"}, in ${tookMs} ms.`
          : `Not delivered to ${host ?? "the webhook"}: ${why ?? `status ${status ?? "none"}`}.`,
      );
      return delivery.isDelivered ? EXIT_CODES.done : EXIT_CODES.runFailed;
    }
    const say = work.progressOf(output, "The other checks were not made. Nothing was changed.");
    const diagnosis = await payments.doctor((checks) =>
      say(`checked ${checks.map(({ name }) => name).join(", ")}`),
    );
    output.answer(diagnosis, work.doctorText);
    return diagnosis.isWell ? EXIT_CODES.done : EXIT_CODES.runFailed;
  },
  "Check that everything works",
  `Check the service, the sign-in, Temporal, the namespace, workers, trackers,
  notifications, the ledger (identity, witness, the logs of the latest runs),
  limits, and writes that make no progress. It changes nothing.`,
  {},
  "Exit code 1: a check failed, or the test notification was not delivered.",
);

/** `durable-payments config`: the settings that count here. */
export const config = Command.make("config", { json }, (given) =>
  runCommand(given.json, async (output, work) => {
    const found = work.readConfiguration();
    output.answer(found, work.configurationText);
    return found.problems.length === 0 ? EXIT_CODES.done : EXIT_CODES.badInput;
  }),
).pipe(
  described(
    "Show the settings, and where each comes from",
    `Show the settings that apply here, and where each comes from: the environment,
  the environment file (.env), the settings file, a profile of Temporal, or its
  default. Secrets are not shown. It names every invalid setting, and then
  exits with 2. It connects to nothing.`,
    {
      "durable-payments --profile staging config": "The settings of another installation",
    },
  ),
);

const recovered = {
  since: time("since", "TIME", "When the restored copy was made, such as 7d; default: a week ago"),
  ...confirmed,
};

/** `durable-payments recover`: after a restore of Temporal's database or of the ledger. */
export const recover = command(
  "recover",
  recovered,
  async (output, payments, given, work) => {
    const acting = work.actingOf(given, given.yes);
    const rest = given.yes
      ? "What was recorded stays. Run it again to continue."
      : "Nothing was changed.";
    const onPart = work.progressOf(output, rest);
    const options = { ...acting, since: given.since, isDryRun: !given.yes, onPart };
    output.answer(await payments.upkeep.recover(options), work.recoveryText);
  },
  "Recover after a restore of Temporal or the ledger",
  `Recover after Temporal's database or the ledger was lost, or restored to an
  earlier copy. It lists unfinished work without a run: files to pay or onboard
  again, repairs, and runs to start again with the same id and input.

  Without --yes, it only reports. With --yes, it begins a new epoch: an earlier
  "not sent" is not trusted until the service has been checked. It also records
  the runs, results, stop orders and waits that only Temporal remembers. Then it
  allows sends.`,
);

const backup = command(
  "backup",
  { file: file("A new file"), json },
  async (output, payments, { file }) => {
    if (existsSync(file)) throw badUsage(`${file} exists: pass a new file. Nothing was done.`);
    await payments.upkeep.backup(file);
    output.answer({ file }, (shown) => `The ledger was copied to ${shown.file}.`);
  },
  "Copy a SQLite ledger to a new file",
  `Copy a SQLite ledger to a new file while it is in use. An existing file is
  refused. The copy has the permissions of the ledger.`,
);

const migrate = command(
  "migrate",
  { json },
  async (output, payments) => {
    const migrations: Array<number> = [];
    const place = await payments.upkeep.migrate((version) => {
      migrations.push(version);
      output.say(`Migrating to version ${version} …`);
    });
    output.answer({ place, migrations }, (shown) =>
      migrations.length === 0
        ? `The ledger at ${shown.place} needs no migration.`
        : `The ledger at ${shown.place} was migrated to version ${migrations.at(-1)}.`,
    );
  },
  "Create or migrate the tables of the ledger",
  `Create the tables of the ledger, or migrate them to this release. A worker
  does the same when it starts; no other command does. Use it if the database
  role of the workers may not change tables.`,
);

const pruned = {
  before: past("before", "TIME", "Only writes completed before then, such as 2026-01-01 or 400d"),
  ...person,
};

const prune = command(
  "prune",
  pruned,
  async (output, payments, given, work) => {
    const acting = work.actingOf(given, true);
    const say = work.progressOf(output, "Run it again to continue.");
    const onPart = (runs: number) => say(`${work.counted(runs, "run")} pruned`);
    const { before } = given;
    const workflowIds = await payments.upkeep.prune({ ...acting, before, onPart });
    output.answer(
      { workflowIds },
      () =>
        `Removed texts and logs of ${work.counted(workflowIds, "run")}. Ids and results are kept.`,
    );
  },
  "Remove old texts and logs",
  `Remove the texts, payees and logs of runs all of whose writes were completed
  before the given time, at least 90 days ago (keepDays), also from their rows
  in files. Ids, states, amounts, results, starts, approvals and stop orders are
  kept forever, so lists and sums stay the same. Payments continue meanwhile. An
  interrupted prune is continued by the next one. Requires --reason.`,
);

/** `durable-payments ledger`: backs up, migrates and prunes the ledger. */
export const ledger = Command.make("ledger").pipe(
  Command.withShortDescription("Back up, migrate or prune the ledger"),
  Command.withDescription("Back up, migrate or prune the ledger"),
  Command.withSubcommands([backup, migrate, prune]),
);

const replayed = {
  id: maybeId("Workflow id of a run"),
  failed: on("failed", "All failed runs; only the latest of each id"),
  open: on("open", "All open runs of the task queue, of every type"),
  since: time("since", "AGE", "With --failed or --open: started since, such as 30d"),
  type: text("type", "TYPE", "With --failed or --open: only this workflow type"),
  workflows: text("workflows", "PATH", "Module that exports your own workflows"),
  json,
};

/** `durable-payments replay`: replays histories against the workflow code. */
export const replay = command(
  "replay",
  replayed,
  async (output, payments, given, work) => {
    const { failed: isFailed, id: workflowId, open: isOpen, since, type } = given;
    if ((isFailed || isOpen) === (workflowId !== undefined))
      throw badUsage("Pass one of these: the ID of a run, --failed, or --open.");
    // It has native code.
    const { describeDifference } = await import("@durable-payments/replay");
    const workflows = given.workflows === undefined ? undefined : resolve(given.workflows);
    const selection = { workflowId, isFailed, isOpen, since: since?.getTime(), type };
    const say = work.progressOf(output, "The others were not replayed. Nothing was changed.");
    const onPart = (runs: number, different: number) =>
      say(`${work.counted(runs, "run")} replayed, ${different} of them differ`);
    const replayed = await payments.upkeep.replay({ ...selection, workflows, onPart });
    output.answer(replayed, (shown) => work.replayText(shown, describeDifference));
    return replayed.runs.every(({ deterministic }) => deterministic)
      ? EXIT_CODES.done
      : EXIT_CODES.runFailed;
  },
  "Replay runs against the workflow code",
  `Replay the histories of runs against the workflow code installed here, to see
  whether they would continue. Nothing is sent, and no worker is needed. If a
  run is not deterministic, it shows the first event that differs, what the code
  does instead, and the lines of code.`,
  {
    "durable-payments replay invoice-17": "One run",
    "durable-payments replay --open --failed --workflows src/workflows.ts":
      "Before a release, with workflows of your own",
  },
  "Exit code 1: at least one run is not deterministic.",
);
