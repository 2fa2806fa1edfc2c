import { expect, it } from "vitest";
import { anchorOf, asSitePage } from "../src/links.ts";

it.each([
  ["[a](steps.md#undo)", "[a](/steps.md#undo)"],
  ["[a](../packages/replay/README.md)", "[a](/packages/replay.md)"],
  ["![a](pictures/web-ui.png)", "![a](/pictures/web-ui.png)"],
  [
    "[a](../examples/payouts.csv)",
    "[a](https://github.com/durable-payments/durable-payments/blob/main/examples/payouts.csv)",
  ],
  ["[a](https://temporal.io) [b](#here)", "[a](https://temporal.io) [b](#here)"],
])("%s of a page in docs becomes %s", (text, expected) => {
  expect(asSitePage(text, "docs/page.md")).toBe(expected);
});

it("leaves comments out", () => {
  expect(asSitePage("one\n<!-- example: a.ts -->\ntwo\n", "docs/page.md")).toBe("one\ntwo\n");
});

it.each([
  ["payout.json", "payoutjson"],
  [
    "A failed identity check: another cardholder in its place",
    "a-failed-identity-check-another-cardholder-in-its-place",
  ],
  ["What is not done, and why", "what-is-not-done-and-why"],
])("names the heading %s as GitHub does", (heading, expected) => {
  expect(anchorOf(heading)).toBe(expected);
});
