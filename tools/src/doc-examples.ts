/**
 * Keep the code that README and docs show equal to the files that tests run: between
 * `<!-- example: PATH -->` and `<!-- /example -->` is the file at PATH. `--check` only compares.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkout } from "./processes.ts";

const EXAMPLE = /<!-- example: (?<path>\S+) -->\n[\s\S]*?<!-- \/example -->/g;

/** A document with every example as its file has it now. */
export const withExamples = (text: string, read: (path: string) => string): string =>
  text.replaceAll(
    EXAMPLE,
    (_, path: string) =>
      `<!-- example: ${path} -->\n\n\`\`\`ts\n${read(path).trimEnd()}\n\`\`\`\n\n<!-- /example -->`,
  );

const documents = () => globSync(["*.md", "docs/*.md", "packages/*/README.md"], { cwd: checkout });

if (import.meta.main) {
  const { values } = parseArgs({ options: { check: { type: "boolean" } } });
  const stale: Array<string> = [];
  for (const document of documents()) {
    const path = join(checkout, document);
    const text = readFileSync(path, "utf8");
    const current = withExamples(text, (example) => readFileSync(join(checkout, example), "utf8"));
    if (current === text) continue;
    stale.push(document);
    if (!values.check) writeFileSync(path, current);
  }
  if (stale.length > 0) {
    process.stderr.write(
      values.check
        ? `The examples in ${stale.join(", ")} are not those of the files: run "npm run docs".\n`
        : `Examples renewed in ${stale.join(", ")}.\n`,
    );
    if (values.check) process.exitCode = 1;
  }
}
