import { interruption, reporter, runCommand } from "@durable-payments/tools/command";
import { benchOptions, chosen, fileOf, helpOf } from "./options.ts";
import { machine, writeReport } from "./report.ts";
import type { Row } from "./row.ts";
import { scenarios } from "./scenarios/index.ts";
import { tableOf } from "./table.ts";

await runCommand({ help: helpOf(scenarios), options: benchOptions }, async (values) => {
  const entries = chosen(scenarios, values.only);
  const file = fileOf(values.json);
  const quick = values.quick === true;
  const report = reporter();
  const signal = interruption();
  const started = new Date();
  const rows: Array<Row> = [];
  const failed: Record<string, string> = {};
  for (const { load, name } of entries) {
    signal.throwIfAborted();
    try {
      const { scenario } = await load();
      const progress = (text: string) => report.line(`${name}: ${text}`);
      rows.push(...(await scenario({ quick, progress, signal })));
    } catch (error) {
      signal.throwIfAborted();
      failed[name] = error instanceof Error ? (error.stack ?? error.message) : String(error);
      report.line(`${name} failed: ${failed[name]}`);
    }
  }
  await writeReport(file, {
    startedAt: started.toISOString(),
    seconds: Math.round((Date.now() - started.getTime()) / 1000),
    quick,
    machine: machine(),
    rows,
    failed,
  });
  process.stdout.write(`${tableOf(rows)}\nFigures: ${file}\n`);
  return Object.keys(failed).length === 0 ? 0 : 1;
});
