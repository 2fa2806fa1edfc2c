import { interruption, reporter, runCommand } from "@durable-payments/tools/command";
import { mkdir, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, totalmem } from "node:os";
import { dirname } from "node:path";
import { benchOptions, chosen, fileOf, helpOf, isPostgres } from "./options.ts";
import type { Row } from "./row.ts";
import { scenarios } from "./scenarios/index.ts";
import { tableOf } from "./table.ts";

await runCommand({ help: helpOf(scenarios), options: benchOptions }, async (values) => {
  const entries = chosen(scenarios, values.only);
  const needsPostgres = isPostgres(values.server);
  const file = fileOf(values.json);
  const quick = values.quick === true;
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
      rows.push(...(await scenario({ quick, progress, signal, needsPostgres, defer })));
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
