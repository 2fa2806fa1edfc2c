import { mkdir, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, totalmem } from "node:os";
import { dirname } from "node:path";
import type { Row } from "./row.ts";

/** What the JSON file holds. */
export interface Report {
  readonly startedAt: string;
  readonly seconds: number;
  /** Rough figures, of fewer rounds. */
  readonly quick: boolean;
  readonly machine: {
    readonly node: string;
    readonly platform: string;
    readonly processor: string;
    readonly processors: number;
    readonly memoryGiB: number;
  };
  readonly rows: ReadonlyArray<Row>;
  /** Scenarios that did not end, by name. */
  readonly failed: Readonly<Record<string, string>>;
}

/** The machine, as far as it explains figures. */
export const machine = (): Report["machine"] => ({
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  processor: cpus()[0]?.model ?? "unknown",
  processors: availableParallelism(),
  memoryGiB: Math.round(totalmem() / 2 ** 30),
});

/** Writes the report, and the folders on the way. */
export const writeReport = async (file: string, report: Report): Promise<void> => {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
};
