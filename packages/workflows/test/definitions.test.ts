import { WORKFLOW, type Workflows } from "@durable-payments/protocol";
import { expect, it } from "vitest";
import * as definitions from "../src/definitions/index.ts";

it("the workflows are those whose types starts are checked by", () => {
  // It does not compile if one has other parameters.
  const typed: Workflows = definitions;
  expect(Object.keys(typed).toSorted()).toEqual(Object.values(WORKFLOW).toSorted());
});
