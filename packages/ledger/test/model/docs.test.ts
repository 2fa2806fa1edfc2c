import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { advance } from "../../src/index.ts";
import { overruledRow } from "../../src/model/rows.ts";
import { explore } from "./explore.ts";
import { scenarios } from "./scenarios.ts";

const FILE = new URL("../../../../docs/contributors/ledger-states.md", import.meta.url);

const LEGEND = [
  "An attempt brings an event in one transaction with the row, and does what the effect says. What a line says of an event is all that can follow from it; what the row, the request and the decisions of people say selects one.",
  "",
  "- **called**: an attempt looks. **dispatching**: the client is about to write the first byte (the fence). **answered**: what became of a send: made, refused, later (not carried out, time may help), lost, contradiction, or notDispatched.",
  "- **evidence**: what the service lists of a write whose outcome is unknown. **checked**: the id that a person named was read. **reread**: one more reading before a person's resend. **undone**: what it made was removed.",
  "- Effects: **send** calls the client, **go** and **stop** are the fence's answer, **reconcile** reads the list, **check** reads what a person named, **again** looks once more, **wait** leaves it to time, **person** to a person; **return** and **fail** end the step.",
];

/** What `advance` did with each event in each state, wherever exploration came. */
const table = (): string => {
  const rows = new Map<string, { readonly states: Set<string>; readonly effects: Set<string> }>();
  const edges = new Set<string>();
  const passed = (from: string, to = from, why = ""): void => {
    if (to !== from) edges.add(`  ${from.replace(" ", "_")} --> ${to}${why}`);
  };
  for (const setting of Object.values(scenarios)) {
    explore(setting, {
      limit: 6_000,
      rules: {
        overruledRow: (row, look) => {
          const overruled = overruledRow(row, look);
          passed(row.state, overruled?.state, ": overruled");
          return overruled;
        },
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
          passed(from, to);
          known.states.add(to);
          known.effects.add(advanced.effect.is);
          return advanced;
        },
      },
    });
  }
  // Events after which a state is the same are one line.
  const lines = Map.groupBy(
    [...rows].toSorted(([one], [other]) => (one < other ? -1 : 1)),
    ([key, { states }]) => `${key.split(" | ")[0]} | ${[...states].toSorted().join(", ")}`,
  );
  return [
    "# States of a write",
    "",
    "Generated from `advance` by exploration. `LEDGER_STATES=write npx vitest run --project=@durable-payments/ledger test/model/docs` writes it anew.",
    "",
    ...LEGEND,
    "",
    "```mermaid",
    "stateDiagram-v2",
    ...[...edges].toSorted(),
    "```",
    "",
    "| state | event | next state | next effect |",
    "| --- | --- | --- | --- |",
    ...[...lines].map(([key, all]) => {
      const [from, to] = key.split(" | ");
      const events = all.map(([event]) => event.split(" | ")[1]);
      const effects = new Set(all.flatMap(([, one]) => [...one.effects]));
      return `| ${from} | ${inShort(events)} | ${to} | ${[...effects].toSorted().join(", ")} |`;
    }),
    "",
  ].join("\n");
};

/** Events of one kind name it once: "answered lost or refused". */
const inShort = (events: ReadonlyArray<string | undefined>): string =>
  [...Map.groupBy(events, (event = "") => event.split(" ")[0])]
    .map(([kind, all]) => {
      const details = all.flatMap((event) => event?.split(" ")[1] ?? []);
      return details.length === 0 ? kind : `${kind} ${details.join(" / ")}`;
    })
    .join("; ");

/** A formatter may align the table. */
const withoutPadding = (text: string): string => text.replaceAll(/[ -]+/gu, " ");

test("docs/contributors/ledger-states.md says what advance does", () => {
  const text = table();
  if (process.env["LEDGER_STATES"] === "write") writeFileSync(FILE, text);
  expect(withoutPadding(readFileSync(FILE, "utf8"))).toBe(withoutPadding(text));
});
