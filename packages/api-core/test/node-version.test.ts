import { readFileSync, globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { isSupportedNode, OLDEST_NODE } from "../src/node-version.ts";

it.each([
  ["18.20.4", false],
  ["20.19.5", false],
  ["22.9.0", false],
  ["22.12.0", false],
  ["22.18.9", false],
  ["22.19.0", true],
  ["23.0.0", true],
  ["24.21.0", true],
  ["100.0.0", true],
])("Node %s: %s", (version, expected) => {
  expect(isSupportedNode(version)).toBe(expected);
});

const checkout = fileURLToPath(new URL("../../../", import.meta.url));

it.each(globSync("{.,packages/*,apps/*,tools,bench,chaos}/package.json", { cwd: checkout }))(
  "%s requires the same Node",
  (file) => {
    expect(JSON.parse(readFileSync(`${checkout}${file}`, "utf8"))).toMatchObject({
      engines: { node: `>=${OLDEST_NODE}` },
    });
  },
);

it("the README requires the same Node", () => {
  expect(readFileSync(`${checkout}README.md`, "utf8")).toContain(`Node ${OLDEST_NODE} or later`);
});
