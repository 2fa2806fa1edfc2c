import type { Difference, differenceText, Replay } from "@durable-payments/replay";
import { styled } from "./styled.ts";
import type { ListLayout } from "./stream.ts";
import { columnsOf, cut, pad, textWidth, wrap } from "./text.ts";

type Frame = Difference["stack"][number];
type Different = Extract<Replay, { readonly deterministic: false }>;

/** Widths are fixed: a row is printed before the next one is known. */
const COLUMNS = { id: 36, type: 17, events: 6 } as const;
const GAP = "  ";

const row = (id: string, type: string, events: string, replay: string): string =>
  [
    pad(id, COLUMNS.id),
    pad(cut(type, COLUMNS.type), COLUMNS.type),
    events.padStart(COLUMNS.events),
    replay,
  ].join(GAP);

/** `ACTIVITY_TASK_SCHEDULED` as the Web UI shows it: `ActivityTaskScheduled`. */
const pascal = (type: string): string =>
  type
    .split("_")
    .map((word) => `${word.slice(0, 1)}${word.slice(1).toLowerCase()}`)
    .join("");

/** A frame on one line, the source in what is left of it, else on its own line. */
const frameLine = ({ column, file, line, source }: Frame): string => {
  const place = `    ${file}:${line}:${column}`;
  return source === undefined ? place : `${place}\n      ${cut(source, textWidth() - 6)}`;
};

const frames = (title: string, stack: ReadonlyArray<Frame>): ReadonlyArray<string> =>
  stack.length === 0 ? [] : [`  ${title}`, ...stack.map(frameLine)];

/** A stack that begins where the other one ends shows nothing more. */
const addsTo = (stack: ReadonlyArray<Frame>, waitsAt: ReadonlyArray<Frame>): boolean => {
  const [first] = waitsAt;
  return !stack.some(({ file, line }) => file === first?.file && line === first.line);
};

/** The words for a difference; its package is loaded for a replay alone. */
type Words = typeof differenceText;

const differenceLines = (different: Different, wordsFor: Words): ReadonlyArray<string> => {
  const { stack, waitsAt } = different.difference;
  const { code, history, reason } = wordsFor(different, pascal);
  return [
    wrap(`history: ${history}`, "  "),
    wrap(`code:    ${code}`, "  "),
    ...frames("where the code did so:", stack),
    // Where it goes on after it has sent does not matter.
    ...(different.kind !== "otherSend" && addsTo(stack, waitsAt)
      ? frames("where the code waits since:", waitsAt)
      : []),
    wrap(reason, "  "),
  ];
};

const line = (replay: Replay, wordsFor: Words): string => {
  const { events, type, workflowId } = replay;
  const isLong = columnsOf(workflowId) > COLUMNS.id;
  const outcome = replay.deterministic
    ? styled("green", "deterministic")
    : styled("red", "differs");
  const rest = row(isLong ? "" : workflowId, type, String(events), outcome);
  return [
    ...(isLong ? [workflowId] : []),
    rest,
    ...(replay.deterministic ? [] : differenceLines(replay, wordsFor)),
  ].join("\n");
};

/** What came of replays, as a table and as JSON. */
export const replayLayout = (wordsFor: Words): ListLayout<Replay> => ({
  field: "runs",
  limit: Infinity,
  head: () => styled("bold", row("ID", "TYPE", "EVENTS", "REPLAY")),
  row: (replay) => line(replay, wordsFor),
  none: "No such run.",
  more: () => "",
});
