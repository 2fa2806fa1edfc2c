// npm run signatures: the registry has signed every package that is installed, and what was published by a build of its
// own says by which. Where the registry or the keys of Sigstore cannot be reached, it is skipped, and the reason is said.
// A release asks npm itself, and skips nothing: .github/workflows/release.yml.
import { spawnSync } from "node:child_process";

const WITHIN_MS = 300_000;
const unreachable =
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b|E404.*keys/;

const { error, status, stderr, stdout } = spawnSync(
  "npm",
  ["audit", "signatures", "--fetch-retries=0"],
  { encoding: "utf8", timeout: WITHIN_MS },
);
const said = `${stdout ?? ""}${stderr ?? ""}`.trim();
const why = error?.message ?? unreachable.exec(said)?.[0];
if (status === 0) console.log(said);
else if (why !== undefined)
  console.log(`Signatures were not checked: npm cannot reach what it needs (${why}).`);
else {
  console.error(said);
  process.exitCode = 1;
}
