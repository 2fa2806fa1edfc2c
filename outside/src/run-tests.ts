import { isRecord } from "@durable-payments/api-core/values";
import type { User } from "./user.ts";

/** Of a busy machine; on an idle one they take seconds. */
const WITHIN_MS = 60_000;

const listOf = (value: unknown): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  Array.isArray(value) ? value.filter(isRecord) : [];

/** The files one after the other in one process: they share the bundle of the workflows, most of what each would take. */
const IN_ONE_PROCESS = ["--no-file-parallelism", "--no-isolate"];

/**
 * Run the tests of a project by Vitest.
 *
 * @returns each test with the seconds that it took, without what its file begins with.
 * @throws Error where one fails, with what Vitest prints.
 */
export const runTests = async (user: User): Promise<ReadonlyMap<string, number>> => {
  const reporters = ["--reporter=default", "--reporter=json", "--outputFile.json=tests.json"];
  await user.run("vitest", ["run", `--testTimeout=${WITHIN_MS}`, ...IN_ONE_PROCESS, ...reporters]);
  const results: unknown = JSON.parse(await user.read("tests.json"));
  const files = listOf(isRecord(results) ? results["testResults"] : undefined);
  return new Map(
    files
      .flatMap((file) => listOf(file["assertionResults"]))
      .map(({ duration, title }) => [String(title), Number(duration) / 1000]),
  );
};
