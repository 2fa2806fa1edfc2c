// npm run check: what workflows of GitHub run is pinned by its digest, since a tag can be moved to other code.
//
// Usage: node tools/check-actions.mjs [WORKFLOW…], by default every one of .github/workflows
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = ".github/workflows";
const given = process.argv.slice(2);
const files = given.length > 0 ? given : readdirSync(folder).map((name) => join(folder, name));

/** A commit and the tag that it was then; an image by its digest; or an action of this repository. */
const pinned =
  /^(?:[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d\S*|docker:\/\/\S+@sha256:[0-9a-f]{64}|\.\/\S+)$/;

const faults = files.flatMap((file) =>
  readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line, index) => {
      const [, used] = /^\s*(?:- )?(?:uses|image):\s*(.+?)\s*$/.exec(line) ?? [];
      return used === undefined || pinned.test(used)
        ? []
        : [`${file}:${index + 1}: ${used} is not pinned: write OWNER/NAME@COMMIT # vTAG`];
    }),
);
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
