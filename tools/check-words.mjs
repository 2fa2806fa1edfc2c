// npm run check: the words of documents and comments, by Vale (https://vale.sh) with the rules of .vale/.
//
// Usage: node tools/check-words.mjs [--no-build] [FILE…], by default everything below
//
// Vale is the one of VALE_PATH or PATH, else it is built with Go, once per user: that needs the Go module proxy alone.
// If there is neither, the check is skipped, and says why.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const version = "3.21.0";
const cache = join(
  process.env.XDG_CACHE_HOME || join(homedir(), ".cache"),
  "durable-payments",
  `vale-${version}`,
);

const checked = [
  "*.md",
  "docs/**/*.md",
  "site/*.md",
  "{packages,apps}/*/README.md",
  "{bench,chaos,deploy}/README.md",
  "packages/{api-core,ledger,protocol,activities,workflows,operations}/src/**/*.ts",
  "packages/{plugin,codec,replay,testing,durable-payments,simulator}/src/**/*.ts",
  "packages/create/{src,template}/**/*.{ts,md}",
  "{site,tools,chaos,bench}/src/**/*.ts",
  "apps/*/src/**/*.ts",
];
// Generated from texts that are checked where they are written.
const generated = ["CHANGELOG.md", "docs/commands.md", "docs/assumptions.md", "docs/settings.md"];

const arguments_ = process.argv.slice(2);

const answers = (command, ...args) => spawnSync(command, args, { stdio: "ignore" }).status === 0;

/** Builds Vale into the cache; the folder appears once it is complete. */
const build = (go) => {
  mkdirSync(join(cache, ".."), { recursive: true });
  const folder = mkdtempSync(`${cache}-`);
  process.stderr.write(`Building Vale ${version} with Go, once (some minutes) …\n`);
  const module = `github.com/vale-cli/vale/v3/cmd/vale@v${version}`;
  const { status, stderr } = spawnSync(go, ["install", module], {
    encoding: "utf8",
    env: { ...process.env, GOBIN: folder },
  });
  if (status === 0 && !existsSync(cache)) renameSync(folder, cache);
  else rmSync(folder, { recursive: true });
  return status === 0 ? undefined : `go install ${module} failed: ${stderr.trim()}`;
};

/** Finds Vale, or says why there is none. */
const findVale = () => {
  const named = [process.env.VALE_PATH, "vale", join(cache, "vale")].filter(Boolean);
  const found = named.find((command) => answers(command, "--version"));
  if (found !== undefined) return { found };
  if (arguments_.includes("--no-build")) return { reason: "vale is not installed" };
  const go = ["go", "/usr/local/go/bin/go"].find((command) => answers(command, "version"));
  if (go === undefined) return { reason: "neither vale nor go is installed" };
  const reason = build(go);
  return reason === undefined ? { found: join(cache, "vale") } : { reason };
};

const { found, reason } = findVale();
if (found === undefined) {
  console.log(`SKIPPED: the words were not checked, because ${reason}.`);
} else {
  const given = arguments_.filter((argument) => argument !== "--no-build");
  const files = given.length > 0 ? given : globSync(checked).filter((f) => !generated.includes(f));
  const { status } = spawnSync(found, ["--output=line", ...files], { stdio: "inherit" });
  process.exitCode = status ?? 1;
}
