import { interruption, reporter, runCommand } from "@durable-payments/tools/command";
import { Flag } from "effect/cli";
import * as Option from "effect/Option";
import { type Row, tableOf } from "./row.ts";
import { measureClient } from "./client.ts";
import { measureLists } from "./lists.ts";
import { measureLargeLedger } from "./large-ledger.ts";
import { measureLost } from "./lost.ts";
import { measureRate } from "./rate.ts";
import { measureThroughput } from "./throughput.ts";
import { measureTracker } from "./tracker.ts";

const measures = {
  client: measureClient,
  ledger: measureLargeLedger,
  lists: measureLists,
  lost: measureLost,
  rate: measureRate,
  runs: measureThroughput,
  tracker: measureTracker,
};

const DESCRIPTION = `Measures the cost of the project, each figure against a baseline of the same run, and prints a table. The
  ledger is measured in SQLite, and in PostgreSQL if that is installed.

  Exit codes: 0 measured, even if targets are missed; 1 it failed; 2 invalid options; 130 interrupted.`;

const options = {
  quick: Flag.Boolean("quick").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Fewer, shorter rounds: a check that it works, with rough figures"),
  ),
  only: Flag.Literals("only", Object.keys(measures)).pipe(
    Flag.optional,
    Flag.withDescription(
      "One part: runs and client against others, the rest against what is promised. ledger needs 20 GB of disk",
    ),
  ),
};

await runCommand("npm run bench --", DESCRIPTION, options, async ({ only, quick }) => {
  const signal = interruption();
  const ends: Array<() => unknown> = [];
  const defer = (end: () => unknown) => void ends.push(end);
  const endAll = async () => {
    for (const end of ends.toReversed()) await end();
    signal.throwIfAborted();
  };
  const context = { quick, progress: reporter().line, signal, defer };
  const isWanted = (name: string) => Option.getOrElse(only, () => name) === name;
  const rows: Array<Row> = [];
  try {
    for (const [name, measure] of Object.entries(measures)) {
      if (isWanted(name)) rows.push(...(await measure(context)));
    }
  } finally {
    await endAll();
  }
  process.stdout.write(tableOf(rows));
  return 0;
});
