import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { advance } from "../../src/model/index.ts";
import { explore } from "./explore.ts";
import { scenarios } from "./scenarios.ts";

const FILE = new URL("../../../../docs/ledger-states.md", import.meta.url);

/** What `advance` did with each event in each state, wherever exploration came. */
const table = (): string => {
  const rows = new Map<string, { readonly states: Set<string>; readonly effects: Set<string> }>();
  const edges = new Set<string>();
  for (const setting of Object.values(scenarios)) {
    explore(setting, {
      limit: 3_000,
      rules: {
        advance: (look, event, policy) => {
          const advanced = advance(look, event, policy);
          const from = look.row?.state ?? "no row";
          const detail =
            event.is === "answered"
              ? ` ${event.outcome.is}`
              : event.is === "evidence" || event.is === "reread"
                ? ` ${event.verdict.is}`
                : "";
          const key = `${from} | ${event.is}${detail}`;
          const known = rows.get(key) ?? { states: new Set(), effects: new Set() };
          rows.set(key, known);
          const to = advanced.row?.state ?? from;
          if (to !== from) edges.add(`  ${from.replace(" ", "_")} --> ${to}`);
          known.states.add(to);
          known.effects.add(advanced.effect.is);
          return advanced;
        },
      },
    });
  }
  const lines = [...rows]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([key, { effects, states }]) =>
        `| ${key} | ${[...states].toSorted().join(", ")} | ${[...effects].toSorted().join(", ")} |`,
    );
  return [
    "# States of a write",
    "",
    "Generated from `advance` by exploration. `LEDGER_STATES=write npx vitest run --project=@durable-payments/ledger test/model/docs` writes it anew.",
    "",
    "```mermaid",
    "stateDiagram-v2",
    ...[...edges].toSorted(),
    "```",
    "",
    "| state | event | next state | next effect |",
    "| --- | --- | --- | --- |",
    ...lines,
    "",
  ].join("\n");
};

/** A formatter may align the table. */
const withoutPadding = (text: string): string => text.replaceAll(/[ -]+/gu, " ");

test("docs/ledger-states.md says what advance does", () => {
  const text = table();
  if (process.env["LEDGER_STATES"] === "write") writeFileSync(FILE, text);
  expect(withoutPadding(readFileSync(FILE, "utf8"))).toBe(withoutPadding(text));
});
