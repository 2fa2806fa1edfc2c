import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The projects whose tests start processes and wait for them, those with the longest files first; all
 * others follow.
 */
const WAITING: ReadonlyArray<string> = [
  "chaos",
  "cli",
  "worker",
  "plugin",
  "workflows",
  "operations",
  "tools",
  "site",
  "testing",
  "bench",
].map((name) => `@durable-payments/${name}`);

/**
 * Runs the files of one project after those of another: a process that has run a file takes the next one
 * of its project, and has loaded its modules. Within a project those that took longest last time begin.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const durationOf = (file: TestSpecification): number =>
      this.ctx.cache.getTestSpecificationResult(file)?.duration ?? Infinity;
    const placeOf = ({ project }: TestSpecification): number => {
      const place = WAITING.indexOf(project.name);
      return place === -1 ? WAITING.length : place;
    };
    // Larger files first where no durations are known.
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => {
      const places = placeOf(a) - placeOf(b) || a.project.name.localeCompare(b.project.name);
      if (places !== 0) return places;
      const [left, right] = [durationOf(a), durationOf(b)];
      return left === right ? 0 : right - left;
    });
  }
}
