import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The projects whose tests start processes and wait for them, the longest first; all others follow. A
 * clone has no durations yet, and the size of a file says little about them.
 */
const WAITING = ["worker", "starter", "tools", "workflows", "chaos", "bench"].map(
  (name) => `@durable-payments/${name}`,
);

/**
 * Runs files in the order of the time that they took last, whatever project they are of, so that the
 * run does not end with a long file alone.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const durationOf = (file: TestSpecification): number =>
      this.ctx.cache.getTestSpecificationResult(file)?.duration ?? Infinity;
    const placeOf = ({ project }: TestSpecification): number => {
      const place = WAITING.indexOf(project.name);
      return place === -1 ? WAITING.length : place;
    };
    // Within a project, larger files first where no durations are known.
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => {
      const [left, right] = [durationOf(a), durationOf(b)];
      return left === right ? placeOf(a) - placeOf(b) : right - left;
    });
  }
}
