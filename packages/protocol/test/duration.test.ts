import { expect, it } from "vitest";
import type { Duration } from "../src/index.ts";

it("a duration that Temporal does not read does not compile", () => {
  const read: ReadonlyArray<Duration> = ["90 seconds", "30 Days", "5d", "1000", 1000];
  // @ts-expect-error -- no unit of time
  const mistyped: Duration = "5 dayz";
  // @ts-expect-error -- nobody knows what the text says
  const unknownText: Duration = String(read[0]);
  expect([...read, mistyped, unknownText]).toHaveLength(7);
});
