import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./command.ts";
import { checkout } from "./processes.ts";

const help = `Usage: npm run docs [-- --check]

Copies the files that tests run into README and docs: the text between "<!-- example: PATH -->" and
"<!-- /example -->" becomes the file at PATH.

Options:
  --check  changes nothing, and fails if an example differs from its file
  --help   shows this text

Exit codes: 0 all are up to date, 1 an example differs, 2 invalid options.
`;

const EXAMPLE = /<!-- example: (?<path>\S+) -->\n[\s\S]*?<!-- \/example -->/g;

/** Returns a document with the current text of every example. */
export const withExamples = (text: string, read: (path: string) => string): string =>
  text.replaceAll(
    EXAMPLE,
    (_, path: string) =>
      `<!-- example: ${path} -->\n\n\`\`\`ts\n${read(path).trimEnd()}\n\`\`\`\n\n<!-- /example -->`,
  );

const documents = () => globSync(["*.md", "docs/*.md", "packages/*/README.md"], { cwd: checkout });

if (import.meta.main) {
  await runCommand({ help, options: { check: { type: "boolean" } } }, async ({ check = false }) => {
    const stale: Array<string> = [];
    for (const document of documents()) {
      const path = join(checkout, document);
      const text = readFileSync(path, "utf8");
      const current = withExamples(text, (file) => readFileSync(join(checkout, file), "utf8"));
      if (current === text) continue;
      stale.push(document);
      if (!check) writeFileSync(path, current);
    }
    if (stale.length === 0) return 0;
    process.stderr.write(
      check
        ? `The examples in ${stale.join(", ")} differ from their files: run "npm run docs".\n`
        : `Examples renewed in ${stale.join(", ")}.\n`,
    );
    return check ? 1 : 0;
  });
}
