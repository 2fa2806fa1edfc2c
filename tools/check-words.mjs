// npm run check: the words of documents and comments, by Vale (https://vale.sh) with the rules of .vale/.
//
// Usage: node tools/check-words.mjs [FILE…], by default everything below
//
// Vale is the one of VALE_PATH or PATH, else Go builds it and keeps it, which needs the Go module proxy alone. If there is
// neither, the check is skipped, and says why.
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";

const MODULE = "github.com/vale-cli/vale/v3/cmd/vale@v3.21.0";

const checked = [
  "*.md",
  "docs/**/*.md",
  "site/*.md",
  "{packages,apps}/*/README.md",
  "{bench,chaos,deploy}/README.md",
  "packages/create/template/**/*.{ts,md}",
  "{packages/*,apps/*,site,tools,chaos,bench}/src/**/*.ts",
];
// Generated from texts that are checked where they are written.
const generated = ["CHANGELOG.md", "docs/commands.md", "docs/assumptions.md", "docs/settings.md"];

const [command, ...args] =
  [
    [process.env.VALE_PATH],
    ["vale"],
    ["go", "run", MODULE],
    ["/usr/local/go/bin/go", "run", MODULE],
  ].find(([one, ...more]) => one && spawnSync(one, [...more, "--version"]).status === 0) ?? [];
if (command === undefined) {
  console.log(
    "SKIPPED: the words were not checked, because vale is missing, and Go cannot build it.",
  );
} else {
  const given = process.argv.slice(2);
  const files = given.length > 0 ? given : globSync(checked).filter((f) => !generated.includes(f));
  const { status } = spawnSync(command, [...args, "--output=line", ...files], { stdio: "inherit" });
  process.exitCode = status ?? 1;
}
