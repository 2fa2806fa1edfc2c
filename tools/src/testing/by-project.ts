import { BaseSequencer, type TestSpecification } from "vitest/node";
import { BUDGETS } from "./run.ts";

/**
 * Runs the files of a project one after the other, so that a process of Vitest continues with modules that it has
 * loaded; projects that use more CPU first, so that the last seconds belong to small files.
 */
export default class ByProject extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const cost = ({ project }: TestSpecification) => BUDGETS[project.name] ?? 0;
    // By the durations of the last run, else larger files first.
    const sorted = await super.sort(files);
    return sorted.toSorted(
      (a, b) => cost(b) - cost(a) || a.project.name.localeCompare(b.project.name),
    );
  }
}
