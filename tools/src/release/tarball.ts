import { posix } from "node:path";

/** The files of a package as its user gets them: the text of each by its path. */
export type Tarball = ReadonlyMap<string, string>;

const BELONGS = /^(package\.json|README\.md|LICENSE|(dist|src)\/.+)$/;
/** What is copied to a user's project has its own tests. */
const TEMPLATE = /^template\/(?!.*(node_modules|\.tsbuildinfo)).+$/;
/** What the build of a checkout knows of itself. */
const OF_THE_BUILD =
  /\.tsbuildinfo$|(^|\/)(test|tests|fixtures|out-tsc)\/|\.(test|spec)\.[jt]s$|(^|\/)\.env/;

/**
 * Look for what should not be in a package that strangers install.
 *
 * @param checkout the folder that it was built in, which no file may name
 * @returns each fault as a sentence that starts with the file; empty for a sound package
 */
export const tarballFaults = (tarball: Tarball, checkout: string): ReadonlyArray<string> =>
  [...tarball].flatMap(([path, text]) => [
    ...(belongs(path) ? [] : [`${path} does not belong in it`]),
    ...(withInlineMaps(text).includes(checkout)
      ? [`${path} names the folder that it was built in`]
      : []),
    ...(path.endsWith(".map") ? mapFaults(path, text, tarball) : []),
  ]);

const belongs = (path: string): boolean =>
  TEMPLATE.test(path) || (BELONGS.test(path) && !OF_THE_BUILD.test(path));

/** A text with the source maps that stand in it in Base64 as they read. */
const withInlineMaps = (text: string): string =>
  text.replaceAll(
    /(sourceMappingURL=data:[^,\s]*;base64,)([\w+/=]+)/g,
    (_, name: string, map: string) => name + Buffer.from(map, "base64").toString(),
  );

interface SourceMap {
  readonly sourceRoot?: string;
  readonly sources: ReadonlyArray<string | null>;
  readonly sourcesContent?: ReadonlyArray<string | null>;
}

const mapFaults = (path: string, text: string, tarball: Tarball): ReadonlyArray<string> => {
  const { sourceRoot = "", sources, sourcesContent = [] } = JSON.parse(text) as SourceMap;
  return sources.flatMap((source, index) => {
    if (typeof sourcesContent[index] === "string") return [];
    const file = posix.join(posix.dirname(path), sourceRoot, source ?? "");
    return tarball.has(file) ? [] : [`${path} maps to ${file}, which is missing`];
  });
};
