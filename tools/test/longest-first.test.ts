import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkout } from "../src/processes/apps.ts";
import { WAITING } from "../src/testing/longest-first.ts";

it("the projects whose tests begin first are projects that have tests", () => {
  const names = globSync("{packages/*,apps/*,*}/tsconfig.spec.json", { cwd: checkout }).map(
    (config) =>
      (
        JSON.parse(
          readFileSync(join(checkout, config.replace("tsconfig.spec", "package")), "utf8"),
        ) as { readonly name: string }
      ).name,
  );
  expect(names).toEqual(expect.arrayContaining([...WAITING]));
});
