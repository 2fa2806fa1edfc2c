import { checkout } from "@durable-payments/tools/processes";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const EXAMPLE = /<!-- example: (?<path>\S+) -->\n[\s\S]*?<!-- \/example -->/g;

const documents = globSync(["*.md", "docs/*.md", "packages/*/README.md"], { cwd: checkout });

/** Returns a document with the current text of every file that it shows. */
const withExamples = (document: string): string =>
  document.replaceAll(EXAMPLE, (_, path: string) => {
    const code = readFileSync(join(checkout, path), "utf8").trimEnd();
    return `<!-- example: ${path} -->\n\n\`\`\`ts\n${code}\n\`\`\`\n\n<!-- /example -->`;
  });

// `npm run docs` copies the files into the documents.
it.each(documents)("%s shows its examples as their files are", async (document) => {
  const file = join(checkout, document);
  const text = readFileSync(file, "utf8");
  // An example without its end would never be compared.
  expect(text.match(EXAMPLE)?.length ?? 0).toBe(text.match(/^<!-- example: /gm)?.length ?? 0);
  await expect(withExamples(text)).toMatchFileSnapshot(file);
});
