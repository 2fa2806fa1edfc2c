import type { OverviewView } from "@durable-payments/operations/show";
import type { Check } from "@durable-payments/operations/doctor";
import { nextLines } from "./next.ts";
import { counted, pairs, roughly, styled, table, totals, wrap } from "./text.ts";

/** What the overview shows: the installation, and what waits. */
export interface ShownOverview extends OverviewView {
  /** Service, tracker and ledger, as the doctor checks them; those that are well in one word. */
  readonly checks: ReadonlyArray<Check>;
}

const SIGNS = { ok: "ok", warning: "warning", failed: "FAILED", skipped: "not checked" } as const;
const COLOURS = { ok: "green", warning: "yellow", failed: "red", skipped: "gray" } as const;

/** Words the status of a check. */
export const checkStatus = (status: Check["status"]): string =>
  styled(COLOURS[status], SIGNS[status]);

const waitingText = (waiting: OverviewView["waiting"], now: number): string =>
  table(
    waiting.map(({ count, money, since, what }) => [
      what,
      String(count),
      since === null ? "" : `longest ${roughly(now - since)}`,
      totals(money),
    ]),
    { indent: "  " },
  );

/** Prints everything at a glance. */
export const overviewText = (seen: ShownOverview, now = Date.now()): string => {
  const { checks, inbox, notes, pauses, runs, waiting } = seen;
  return [
    table(checks.map(({ detail, name, status }) => [name, checkStatus(status), detail])),
    "",
    pairs(
      [
        ["running", runs && counted(runs.running, "run")],
        ["failed", runs && `${counted(runs.failedToday, "run")} in the last 24 hours`],
        [
          "inbox",
          inbox === 0
            ? "nothing waits for a person"
            : styled("yellow", `${inbox} waiting for a person`),
        ],
        ...pauses.map(
          ({ by, of, reason, scope }) =>
            [
              "paused",
              `${scope === "all" ? "all sends" : `${scope} ${of}`}, by ${by}: ${reason}`,
            ] as const,
        ),
      ],
      "",
    ),
    ...(waiting.length === 0 ? [] : ["", styled("bold", "Waiting for"), waitingText(waiting, now)]),
    ...notes.map((note) => wrap(`${styled("yellow", "note")} ${note}`)),
    ...nextLines(seen.next),
  ].join("\n");
};
