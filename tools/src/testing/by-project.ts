import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Runs the files of a project one after the other, so that a process of Vitest continues with modules that it has
 * loaded. The project with the longest file comes first, so that the last seconds belong to small files.
 */
export default class ByProject extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    // By the durations of the last run, else larger files first.
    const sorted = await super.sort(files);
    return [...Map.groupBy(sorted, ({ project }) => project.name).values()].flat();
  }
}
