import { interruption, reporter, runCommand } from "@durable-payments/tools/command";
import { mkdir, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, totalmem } from "node:os";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Row, tableOf } from "./row.ts";
import { chosen, scenarios } from "./scenario.ts";

const help = `Usage: npm run bench [-- OPTIONS]

Measures the cost of the project. Each figure is compared with a baseline of the same run, in alternating
rounds. Prints a table and writes the figures as JSON.

Options:
  --only NAME   runs this scenario only; repeatable
  --json FILE   writes the figures to this file (.local/bench.json)
  --quick       runs fewer, shorter rounds: a check that it works, with rough figures
  --help        shows this text

The ledger is measured in SQLite, and in PostgreSQL if that is installed.

Scenarios:
${scenarios.map(({ about, name }) => `  ${name.padEnd(12)}  ${about}`).join("\n")}

Exit codes: 0 measured, even if targets are missed; 1 a scenario failed; 2 invalid options;
130 interrupted.
`;

const options = {
  only: { type: "string", multiple: true },
  json: { type: "string" },
  quick: { type: "boolean" },
} as const;

await runCommand({ help, options }, async ({ json, only, quick = false }) => {
  const entries = chosen(scenarios, only);
  // npm runs its scripts in the checkout, wherever the user is.
  const file =
    json === undefined
      ? fileURLToPath(new URL("../../.local/bench.json", import.meta.url))
      : resolve(process.env["INIT_CWD"] ?? "", json);
  const report = reporter();
  const signal = interruption();
  const started = new Date();
  const rows: Array<Row> = [];
  const failed: Record<string, string> = {};
  for (const { load, name } of entries) {
    const ends: Array<() => unknown> = [];
    const defer = (end: () => unknown) => void ends.push(end);
    const progress = (text: string) => report.line(`${name}: ${text}`);
    try {
      const { scenario } = await load();
      rows.push(...(await scenario({ quick, progress, signal, defer })));
    } catch (error) {
      if (!signal.aborted) {
        failed[name] = error instanceof Error ? (error.stack ?? error.message) : String(error);
        report.line(`${name} failed: ${failed[name]}`);
      }
    } finally {
      for (const end of ends.toReversed()) await end();
    }
    signal.throwIfAborted();
  }
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
    failed,
  };
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(figures, null, 2)}\n`);
  process.stdout.write(`${tableOf(rows)}\nFigures: ${file}\n`);
  return Object.keys(failed).length === 0 ? 0 : 1;
});
