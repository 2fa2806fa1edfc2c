import { expect, it } from "vitest";
import { queryText, queryTexts } from "../src/index.ts";

it("writes a text as a value, whatever is in it", () => {
  expect(queryText('a" OR WorkflowId = "b')).toBe(String.raw`"a\" OR WorkflowId = \"b"`);
  expect(queryText(String.raw`back\slash`)).toBe(String.raw`"back\\slash"`);
  expect(queryTexts(["a", 'b"'])).toBe(String.raw`("a", "b\"")`);
});
