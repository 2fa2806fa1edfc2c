import { expect, it } from "vitest";
import { drawRecording } from "../src/recording.ts";

it("shows each line at its time, with long waits shortened", () => {
  const drawn = drawRecording(
    [
      { at: 0, text: "$ npm run demo" },
      { at: 1000, text: "   ✓ createPayout <b>&" },
      { at: 61_000, text: "completed" },
    ],
    "demo",
  );
  // 1 s, a wait of a minute that is shortened to 1.2 s, and 6 s of the end: the second line comes after 1 of 8.2 s.
  expect(drawn).toContain("@keyframes l1{0%{opacity:0}12.20%,100%{opacity:1}}");
  expect(drawn).toContain("@keyframes l2{0%{opacity:0}26.83%,100%{opacity:1}}");
  expect(drawn).toContain("   ✓ createPayout &lt;b&gt;&amp;</text>");
});

it("scrolls when the window is full", () => {
  const drawn = drawRecording(
    Array.from({ length: 30 }, (_, row) => ({ at: row, text: `line ${row}` })),
    "demo",
  );
  expect(drawn).toContain("translateY(-108px)");
});
