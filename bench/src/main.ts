import { interruption, reporter, runCommand } from "@durable-payments/tools/command";
import { mkdir, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, totalmem } from "node:os";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { tableOf } from "./row.ts";
import { measureThroughput } from "./throughput.ts";

const help = `Usage: npm run bench [-- OPTIONS]

Measures the cost of the project against workflows written by hand on Temporal's SDK: runs a second, the worker's CPU,
replay and bundles. Each figure is compared with a baseline of the same run, in alternating rounds. Prints a table and
writes the figures as JSON.

Options:
  --json FILE   writes the figures to this file (.local/bench.json)
  --quick       runs fewer, shorter rounds: a check that it works, with rough figures
  --help        shows this text

The ledger is measured in SQLite, and in PostgreSQL if that is installed.

Exit codes: 0 measured, even if targets are missed; 1 it failed; 2 invalid options; 130 interrupted.
`;

const options = { json: { type: "string" }, quick: { type: "boolean" } } as const;

await runCommand({ help, options }, async ({ json, quick = false }) => {
  // npm runs its scripts in the checkout, wherever the user is.
  const file =
    json === undefined
      ? fileURLToPath(new URL("../../.local/bench.json", import.meta.url))
      : resolve(process.env["INIT_CWD"] ?? "", json);
  const signal = interruption();
  const started = new Date();
  const ends: Array<() => unknown> = [];
  const defer = (end: () => unknown) => void ends.push(end);
  const endAll = async () => {
    for (const end of ends.toReversed()) await end();
    signal.throwIfAborted();
  };
  const context = { quick, progress: reporter().line, signal, defer };
  const rows = await measureThroughput(context).finally(endAll);
  const figures = {
    startedAt: started.toISOString(),
    seconds: Math.round((Date.now() - started.getTime()) / 1000),
    quick,
    // As far as it explains figures.
    machine: {
      node: process.version,
      platform: `${process.platform} ${process.arch}`,
      processor: cpus()[0]?.model ?? "unknown",
      processors: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 2 ** 30),
    },
    rows,
  };
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(figures, null, 2)}\n`);
  process.stdout.write(`${tableOf(rows)}\nFigures: ${file}\n`);
  return 0;
});
