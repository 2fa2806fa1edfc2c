import { readFileSync } from "node:fs";
import { messageOf } from "../values.ts";

/** What files hold, by the names of the settings that name them. */
export type FileContents<Name extends string> = Readonly<Record<Name, string>>;

/** Files that are read again when what they hold is used, and what is made of them. */
export interface RereadFiles<Name extends string, A> {
  /** Their paths, by the names of the settings that name them. */
  readonly paths: FileContents<Name>;
  /** What they held when they were checked. */
  readonly contents: FileContents<Name>;
  /** Makes of what they hold what is used. Where it cannot, it throws an error that repeats nothing of it. */
  readonly parse: (contents: FileContents<Name>) => A;
  /** Gets, once for each time that it happens, why what the files hold now is not used. */
  readonly warn: (message: string) => void;
  /** How long the files are taken to be as they were last read, in milliseconds; 1,000 if left out. */
  readonly rereadAfterMs?: number;
}

const DEFAULT_REREAD_MS = 1000;

/** A file may be seen half written, or a certificate before its key: what is wrong twice is told. */
const TOLD_AT = 2;

/**
 * Read files that settings name.
 *
 * @param paths by the names of the settings.
 * @returns what they hold.
 * @throws Error that names the setting, and not the path: somebody may have given the secret itself.
 */
export const readFiles = <Name extends string>(paths: FileContents<Name>): FileContents<Name> =>
  Object.fromEntries(
    Object.entries<string>(paths).map(([name, path]) => {
      try {
        return [name, readFileSync(path, "utf8")];
      } catch {
        throw new Error(`${name} must be the path of a file: it is missing or cannot be read.`);
      }
    }),
    // One entry for each of the names.
  ) as FileContents<Name>;

/** Anything else cannot stand in a header. */
const VISIBLE = /^[\x21-\x7e]+$/;

/**
 * Read the API key that a file holds; a line break at its end is not part of it.
 *
 * @param name of the setting that names the file.
 * @param content of the file.
 * @returns the key.
 * @throws Error that names the setting where it is no key.
 */
export const apiKeyIn = (name: string, content: string): string => {
  const key = content.replace(/\r?\n$/, "");
  if (VISIBLE.test(key)) return key;
  throw new Error(`${name} must name a file with an API key and nothing else.`);
};

/**
 * Use what files hold, and read them again when it is used, at most once a second: a file is replaced, a Kubernetes
 * secret is swapped, without a restart. What cannot be read or used leaves what was used before.
 *
 * @returns what was made of the files, the same value as long as they do not change.
 */
export const rereadFiles = <Name extends string, A>({
  contents,
  parse,
  paths,
  rereadAfterMs = DEFAULT_REREAD_MS,
  warn,
}: RereadFiles<Name, A>): (() => A) => {
  let used = contents;
  let value = parse(contents);
  let readAt = performance.now();
  let faults = 0;
  const reread = (): void => {
    const found = readFiles(paths);
    if (Object.entries<string>(found).every(([name, text]) => text === used[name as Name])) return;
    value = parse(found);
    used = found;
  };
  return () => {
    const now = performance.now();
    if (now - readAt < rereadAfterMs) return value;
    readAt = now;
    try {
      reread();
      faults = 0;
    } catch (error) {
      faults += 1;
      if (faults === TOLD_AT) warn(`${messageOf(error)} What it held before is used.`);
    }
    return value;
  };
};
