import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { advance } from "../../src/index.ts";
import { overruledRow } from "../../src/model/rows.ts";
import { explore } from "./explore.ts";
import { scenarios } from "./scenarios.ts";
import { stateDiagram } from "./state-diagram.ts";

const FILE = new URL("../../../../docs/contributors/ledger-states.md", import.meta.url);

const DIAGRAM = new URL("../../../../docs/pictures/write-states.svg", import.meta.url);

const LEGEND = [
  "An attempt records an event in one transaction with the row, then acts on the effect. A line of the table lists everything that can follow the event. The row, the request and the decisions of people select one.",
  "",
  "| event | meaning |",
  "| --- | --- |",
  "| called | an attempt begins |",
  "| dispatching | the client is about to write the first byte: the last check |",
  "| answered | a send ended: made, refused, later (no effect, time may help), lost, contradiction or notDispatched |",
  "| evidence | the service's list was read for a write with an unknown outcome |",
  "| checked | the id that a person gave was read |",
  "| reread | the list was read once more before a person's resend |",
  "| undone | the result was removed |",
  "",
  "| effect | the attempt |",
  "| --- | --- |",
  "| send | calls the client |",
  "| go, stop | sends, or does not send |",
  "| reconcile | reads the service's list |",
  "| check | reads the id that a person gave |",
  "| again | checks once more |",
  "| wait | lets time pass |",
  "| person | asks a person |",
  "| return, fail | ends the step |",
];

/** Returns the page and the diagram: everything that `advance` did during exploration. */
const drawAndTabulate = (): { readonly page: string; readonly diagram: string } => {
  const rows = new Map<string, { readonly states: Set<string>; readonly effects: Set<string> }>();
  const transitions = new Set<string>();
  const passed = (from: string, to = from): void => {
    if (to !== from && from !== "no row") transitions.add(`${from} ${to}`);
  };
  for (const setting of Object.values(scenarios)) {
    explore(setting, {
      limit: 6_000,
      rules: {
        overruledRow: (row, look) => {
          const overruled = overruledRow(row, look);
          passed(row.state, overruled?.state);
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
  const page = [
    "# States of a write",
    "",
    "This page is for contributors. It lists what `advance` does with each event in each state. Dark arrows are common, light ones are rare.",
    "",
    "![The states of a write and the transitions between them](../pictures/write-states.svg)",
    "",
    "Generated from `advance` by exploration. `LEDGER_STATES=write npx vitest run --project=@durable-payments/ledger test/model/docs` renews it.",
    "",
    ...LEGEND,
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
  return { page, diagram: stateDiagram(transitions) };
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

test("docs/contributors/ledger-states.md and its diagram say what advance does", () => {
  const { diagram, page } = drawAndTabulate();
  if (process.env["LEDGER_STATES"] === "write") {
    writeFileSync(FILE, page);
    writeFileSync(DIAGRAM, diagram);
  }
  expect(withoutPadding(readFileSync(FILE, "utf8"))).toBe(withoutPadding(page));
  expect(readFileSync(DIAGRAM, "utf8")).toBe(diagram);
});
