import { expect, it } from "vitest";
import { absentSoFar, withoutResend } from "../src/index.ts";

const AT = Date.parse("2026-11-22T13:27:19Z");

it("what a run that has ended, or was asked to end, waits for says nothing of sending again", () => {
  const text = `${absentSoFar("it is sent again", AT)} (no answer)`;
  expect(withoutResend(text, false)).toBe(
    "absent so far: asked to end: it is not sent again; that it is absent is known after 2026-11-22 13:27:19 UTC (no answer)",
  );
  expect(withoutResend(text, true)).toBe(
    "absent so far: the run has ended, and does not send it again (no answer)",
  );
  const asked = absentSoFar("a person is asked", AT);
  expect(withoutResend(asked, true)).toBe(asked);
});
