import { checkout } from "@durable-payments/tools/processes";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type EventSubject, eventType, SUBJECTS } from "../../src/model/feed.ts";

it("docs/events.md has each type of event, and no other", () => {
  const subjects = Object.keys(SUBJECTS) as ReadonlyArray<EventSubject>;
  const types = subjects.flatMap((subject) =>
    Object.keys(SUBJECTS[subject]).flatMap((state) =>
      ["onboardCardholder", "payOrder"].flatMap((kind) =>
        [null, "open"].map((was) => eventType({ kind, state, subject, was })),
      ),
    ),
  );
  const page = readFileSync(join(checkout, "docs/events.md"), "utf8");
  const [, after = ""] = page.split("\n## Types\n");
  const [table = ""] = after.split("\n## ");
  const shown = [...table.matchAll(/`([a-z]+\.[a-z_]+)`/g)].map(([, type]) => type);
  expect(new Set(shown)).toEqual(new Set([...types, "notifications.test"]));
});
