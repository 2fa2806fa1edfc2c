import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { sendings, STEP } from "../src/index.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Names of operations or activities, too: as a literal they may mean those. */
const others = new Set<string>([...sendings.map(({ operation }) => operation), "checkRequests"]);
const names = Object.keys(STEP).filter((name) => !others.has(name));

const literal = new RegExp(`["'\`](${names.join("|")})["'\`]`);

const isComment = (line: string): boolean => /^\s*(\/\/|\/?\*)/.test(line);

it("no source but the protocol's table spells the name of a step", () => {
  const files = globSync(["packages/*/src/**/*.ts", "apps/*/src/**/*.ts"], { cwd: root }).filter(
    (file) => !file.replaceAll("\\", "/").startsWith("packages/protocol/"),
  );
  const found = files.flatMap((file) =>
    readFileSync(`${root}${file}`, "utf8")
      .split("\n")
      .flatMap((line, index) =>
        literal.test(line) && !isComment(line) ? [`${file}:${index + 1} ${line.trim()}`] : [],
      ),
  );
  expect(found).toEqual([]);
});
