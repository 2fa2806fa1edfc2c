import { expect, it } from "vitest";
import { visibleText } from "../src/index.ts";

it.each([
  ["Invoice 17, €: Ångström 請求書", "Invoice 17, €: Ångström 請求書"],
  ["a\nb\tc\u0085d\u2028e", "a\\u{000a}b\\u{0009}c\\u{0085}d\\u{2028}e"],
  ["\u001b[2K40,00\u009b0.00", "\\u{001b}[2K40,00\\u{009b}0.00"],
  ["\u202e00.04\u2066x\u200b\ufeff\u00ad", "\\u{202e}00.04\\u{2066}x\\u{200b}\\u{feff}\\u{00ad}"],
  ["\u{e0041}\u3164\u2800\ud800", "\\u{e0041}\\u{3164}\\u{2800}\\u{d800}"],
])("shows what %j hides", (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});
