import * as fc from "fast-check";
import { expect, it } from "vitest";
import { visibleJson, visibleLines, visibleText } from "../src/values.ts";

/** Any UTF-16 units: whole characters, halves of them, controls. */
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
  fc.string({ unit: fc.constantFrom("\\", "u", "{", "1", "b", "}", "\u001b", "\u202e") }),
);

/** Checked by code points instead of classes: what a terminal takes as a command, or a reader does not see. */
const isPlain = (text: string): boolean =>
  Array.from(text).every((character) => {
    const code = character.codePointAt(0) ?? 0;
    const isControl = code < 0x20 || (code >= 0x7f && code <= 0x9f);
    const isHalf = code >= 0xd800 && code <= 0xdfff;
    const isBidi =
      code === 0x61c ||
      (code >= 0x200b && code <= 0x200f) ||
      (code >= 0x2028 && code <= 0x202e) ||
      (code >= 0x2060 && code <= 0x206f);
    const isIgnored =
      code === 0xad ||
      code === 0x034f ||
      code === 0x3164 ||
      code === 0xfeff ||
      (code >= 0xfe00 && code <= 0xfe0f) ||
      (code >= 0xe0000 && code <= 0xe0fff);
    const isNone = (code & 0xfffe) === 0xfffe || (code >= 0xfdd0 && code <= 0xfdef);
    return !(isControl || isHalf || isBidi || isIgnored || isNone);
  });

it.each([
  ["\u001b[2K\rpaid", "\\u{1b}[2K\\u{d}paid"],
  ["a\nb\tc", "a\\u{a}b\\u{9}c"],
  ["\u009b31m", "\\u{9b}31m"],
  ["EUR\u202e00.04", "EUR\\u{202e}00.04"],
  ["A\u200bda\ufeff", "A\\u{200b}da\\u{feff}"],
  ["\ud83d", "\\u{d83d}"],
  ["\u{e0041}", "\\u{e0041}"],
  ["literally \\u{1b}, C:\\users", "literally \\u{5c}u{1b}, C:\\users"],
  ["This\u00a0run\u3000was", "This\\u{a0}run\\u{3000}was"],
  ["\u{1d159}\u2800\u3164\uffa0\u1160", "\\u{1d159}\\u{2800}\\u{3164}\\u{ffa0}\\u{1160}"],
  [`a${"\u0301".repeat(4)}b`, "a\u0301\u0301\\u{301}\\u{301}b"],
  ["\u0301a", "\\u{301}a"],
  ["k\u20ddm\u0336n\u0338", "k\\u{20dd}m\\u{336}n\\u{338}"],
  ["\ufdfd\u{1242b}\u2e3b", "\\u{fdfd}\\u{1242b}\\u{2e3b}"],
  ["ที่อยู่ हिन्दी ကြောင်း שָׁלוֹם", "ที่อยู่ हिन्दी ကြောင်း שָׁלוֹם"],
  ["Zoë Müller 支付 🍵 e\u0301", "Zoë Müller 支付 🍵 e\u0301"],
])("writes out %j", (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

it("shows any text in visible characters, and different texts differently", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const shown = visibleText(text);
      expect(isPlain(shown)).toBe(true);
      const read = shown.replaceAll(/\\u\{([0-9a-f]+)\}/g, (_, code: string) =>
        String.fromCodePoint(Number.parseInt(code, 16)),
      );
      expect(read).toBe(text);
    }),
  );
});

it("keeps the line breaks of a whole output, and what it is asked to", () => {
  expect(visibleLines("a\nb\u001b\r")).toBe("a\nb\\u{1b}\\u{d}");
  expect(visibleLines("a\nb", () => undefined)).toBe("a\\u{a}b");
});

it("writes JSON in visible characters, which is read as what it was", () => {
  fc.assert(
    fc.property(fc.dictionary(anyText, anyText), (value) => {
      const json = visibleJson(value);
      expect(isPlain(json)).toBe(true);
      expect(JSON.parse(json)).toEqual({ ...value });
    }),
  );
});
