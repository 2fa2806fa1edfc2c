import { searchAttributes as ofTheWorkflows } from "@durable-payments/workflows";
import { expect, it } from "vitest";
import { searchAttributes } from "../src/runs/search-attributes.ts";

it("knows the search attributes of the workflows", () => {
  expect(searchAttributes.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual(
    ofTheWorkflows.toSorted((a, b) => a.name.localeCompare(b.name)),
  );
});
