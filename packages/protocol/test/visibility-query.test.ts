import { expect, it } from "vitest";
import { queryText, queryTexts, runsOfIdQuery } from "../src/index.ts";

it("writes a text as a value, whatever is in it", () => {
  expect(queryText('a" OR WorkflowId = "b')).toBe(String.raw`"a\" OR WorkflowId = \"b"`);
  expect(queryText(String.raw`back\slash`)).toBe(String.raw`"back\\slash"`);
  expect(queryTexts(["a", 'b"'])).toBe(String.raw`("a", "b\"")`);
});

it.each([
  ["invoice 1", 'WorkflowId = "invoice 1"'],
  ["it's", 'WorkflowId = "it\'s"'],
  ['say "so"', 'WorkflowId STARTS_WITH "say "'],
  ["back\\slash", 'WorkflowId STARTS_WITH "back"'],
  ['"', 'WorkflowId STARTS_WITH ""'],
])("finds the runs of %s", (id, query) => {
  expect(runsOfIdQuery(id)).toBe(query);
});
