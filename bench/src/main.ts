import { interruption, reporter, runCommand } from "@durable-payments/tools/command";
import { type Row, tableOf } from "./row.ts";
import { measureClient } from "./client.ts";
import { measureLists } from "./lists.ts";
import { measureLargeLedger } from "./large-ledger.ts";
import { measureLost } from "./lost.ts";
import { measureRate } from "./rate.ts";
import { measureThroughput } from "./throughput.ts";
import { measureTracker } from "./tracker.ts";

const help = `Usage: npm run bench [-- --quick] [--only client|runs|lists|lost|ledger|rate|tracker]

Measures the cost of the project, each figure against a baseline of the same run, and prints a table.

Options:
  --only    measures only one part: runs and the client against others, the rest against what is promised.
            ledger has 10,000,000 payouts: it needs 20 GB of disk
  --quick   runs fewer, shorter rounds: a check that it works, with rough figures
  --help    shows this text

The ledger is measured in SQLite, and in PostgreSQL if that is installed.

Exit codes: 0 measured, even if targets are missed; 1 it failed; 2 invalid options; 130 interrupted.
`;

await runCommand(
  { help, options: { quick: { type: "boolean" }, only: { type: "string" } } },
  async ({ only, quick = false }) => {
    const signal = interruption();
    const ends: Array<() => unknown> = [];
    const defer = (end: () => unknown) => void ends.push(end);
    const endAll = async () => {
      for (const end of ends.toReversed()) await end();
      signal.throwIfAborted();
    };
    const context = { quick, progress: reporter().line, signal, defer };
    const measures = {
      client: measureClient,
      ledger: measureLargeLedger,
      lists: measureLists,
      lost: measureLost,
      rate: measureRate,
      runs: measureThroughput,
      tracker: measureTracker,
    };
    const rows: Array<Row> = [];
    try {
      for (const [name, measure] of Object.entries(measures)) {
        if (only === undefined || only === name) rows.push(...(await measure(context)));
      }
    } finally {
      await endAll();
    }
    process.stdout.write(tableOf(rows));
    return 0;
  },
);
