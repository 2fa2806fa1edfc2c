import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { glob } from "node:fs/promises";
import { expect, it } from "vitest";
import { checkout } from "../src/processes.ts";

const SOURCE = join(checkout, "packages/control/src");

/** The floors of the package control: each imports only itself and those before it. */
const FLOORS = ["facts", "rules", "actions", "views"];

const floorOf = (file: string): number =>
  FLOORS.indexOf(relative(SOURCE, file).split("/")[0] ?? "");

it("no floor of control imports a later one", async () => {
  const wrong: Array<string> = [];
  for await (const file of glob("{facts,rules,actions,views}/**/*.ts", { cwd: SOURCE })) {
    const path = join(SOURCE, file);
    for (const [, target = ""] of readFileSync(path, "utf8").matchAll(/from "(\.[^"]+)"/g))
      if (floorOf(resolve(path, "..", target)) > floorOf(path)) wrong.push(`${file}: ${target}`);
  }
  expect(wrong).toEqual([]);
});
