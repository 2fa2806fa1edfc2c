import { readFile, writeFile } from "node:fs/promises";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** A file that is made from the contract and committed. */
export interface GeneratedFile {
  readonly file: URL;
  /** What it is, for `--help`. */
  readonly about: string;
  /** The command that writes it, from the workspace's root. */
  readonly command: string;
  /** Its whole text as it is to be. */
  readonly make: () => string;
}

/** The file's name from where the command runs. */
const nameOf = ({ file }: GeneratedFile): string =>
  relative(process.cwd(), fileURLToPath(file)) || fileURLToPath(file);

/** Whether the committed file is what would be made now. */
export const isCurrent = async ({ file, make }: GeneratedFile): Promise<boolean> => {
  const committed = await readFile(file, "utf8").catch(() => undefined);
  return committed === make();
};

/**
 * Writes the file, or with `--check` compares it. Exit codes: 0 written or current, 1 not current,
 * 2 bad arguments.
 */
export const run = async (
  generated: GeneratedFile,
  args: ReadonlyArray<string>,
): Promise<number> => {
  const name = nameOf(generated);
  const options = { check: { type: "boolean" }, help: { type: "boolean" } } as const;
  let values;
  try {
    ({ values } = parseArgs({ args: [...args], options }));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return 2;
  }
  if (values.help === true) {
    console.log(
      `Writes ${name}: ${generated.about}\n\n  --check  only compare; exit 1 if it is not current\n  --help   show this`,
    );
    return 0;
  }
  if (values.check === true) {
    if (await isCurrent(generated)) return 0;
    console.error(`${name} is not what the contract says. Write it: ${generated.command}`);
    return 1;
  }
  await writeFile(generated.file, generated.make());
  console.log(`wrote ${name}`);
  return 0;
};
