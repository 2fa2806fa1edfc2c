import { expect, it } from "vitest";
import { withoutActivityNames } from "../../src/history/lacking-activity.ts";

const fromTemporal = (activity: string) =>
  `Activity function ${activity} is not registered on this Worker, available activities: ["awaitFunds","createPayout"]`;

it.each(["send", "find", "read", "undo"])(
  "that the worker lacks an operation is said with its remedy, and without the names of all it has: %s",
  (what) => {
    expect(withoutActivityNames(fromTemporal(`${what}/nothere`))).toBe(
      'The worker lacks the operation nothere: give it by "operations: { nothere }" in the settings of PaymentsPlugin. Nothing was sent by this attempt.',
    );
  },
);

it("of another activity only its name is shown", () => {
  expect(withoutActivityNames(fromTemporal("bookHotel"))).toBe(
    "The worker lacks the activity bookHotel. Nothing was sent by this attempt.",
  );
});

it("another message stays as it is", () => {
  expect(withoutActivityNames("ECONNREFUSED")).toBe("ECONNREFUSED");
});
