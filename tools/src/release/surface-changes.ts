/** What the next release does to versions, as a version plan says it: for a user, not for 0.x. */
type Bump = "patch" | "minor" | "major";

/** A version plan of Nx: a Markdown file with the bump of the packages, and the words of the changelog. */
export interface VersionPlan {
  readonly bump: Bump;
  /** Whether it says, by a line that starts with `Compatible:`, why changed declarations break nobody. */
  readonly isCompatible: boolean;
}

/** @returns undefined for a text that has no bump, which Nx refuses, too */
export const readVersionPlan = (text: string): VersionPlan | undefined => {
  const [, header = "", words = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
  const bump = /^[^#\n]+:\s*['"]?(patch|minor|major)['"]?\s*$/m.exec(header)?.[1];
  return bump === undefined
    ? undefined
    : { bump: bump as Bump, isCompatible: /^Compatible: \S/m.test(words) };
};

/**
 * Compare the API report of a package with that of its latest release.
 *
 * @param released undefined for a package that is in no release yet
 * @returns what the plans lack, as a sentence; undefined when they tell of the change
 */
export const untoldChange = (
  report: { readonly released: string | undefined; readonly current: string },
  plans: ReadonlyArray<VersionPlan>,
): string | undefined => {
  const { released = "", current } = report;
  if (released === current) return undefined;
  const gone = linesWithout(released, current);
  const bumps = new Set(plans.map(({ bump }) => bump));
  const isCompatible = plans.some((plan) => plan.isCompatible);
  if (gone.length === 0 || isCompatible) {
    return bumps.has("minor") || bumps.has("major")
      ? undefined
      : `has a public surface that its latest release does not have: a version plan of a minor release is missing. Write one: npm run plan -- minor --message "…"`;
  }
  return bumps.has("major")
    ? undefined
    : `lacks, or has otherwise, what its latest release has: a version plan of a major release is missing, or in one of a minor release a line "Compatible: why". Write one: npm run plan -- major --message "…"\n${gone.map((line) => `  - ${line}\n`).join("")}`;
};

const linesWithout = (text: string, other: string): ReadonlyArray<string> => {
  const kept = new Set(other.split("\n"));
  return text.split("\n").filter((line) => !kept.has(line));
};
