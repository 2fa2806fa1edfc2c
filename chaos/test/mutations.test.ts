import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { plantedFaults } from "../src/mutations/mutations.ts";
import { checkout } from "@durable-payments/tools/processes";

it.each(plantedFaults)(
  "the guard that $name takes out stands where it looks for it",
  ({ edits }) => {
    const missing = edits.filter(
      ({ file, find }) => readFileSync(join(checkout, file), "utf8").split(find).length !== 2,
    );
    expect(missing).toEqual([]);
  },
);
