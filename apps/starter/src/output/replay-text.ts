import type { Difference, differenceText, Replay } from "@durable-payments/replay";
import { styled, table, wrap } from "./text.ts";

type Frame = Difference["stack"][number];
type Different = Extract<Replay, { readonly deterministic: false }>;

/** `ACTIVITY_TASK_SCHEDULED` as the Web UI shows it: `ActivityTaskScheduled`. */
const pascal = (type: string): string =>
  type
    .split("_")
    .map((word) => `${word.slice(0, 1)}${word.slice(1).toLowerCase()}`)
    .join("");

/** A frame on one line, and its source below. */
const frameLine = ({ column, file, line, source }: Frame): string => {
  const place = `    ${file}:${line}:${column}`;
  return source === undefined ? place : `${place}\n${wrap(source, "      ")}`;
};

const frames = (title: string, stack: ReadonlyArray<Frame>): ReadonlyArray<string> =>
  stack.length === 0 ? [] : [`  ${title}`, ...stack.map(frameLine)];

/** A stack that begins at the end of the other adds nothing. */
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
    // The place after the send does not matter.
    ...(different.kind !== "otherStep" && addsTo(stack, waitsAt)
      ? frames("where the code waits since:", waitsAt)
      : []),
    wrap(reason, "  "),
  ];
};

const outcomeOf = ({ deterministic }: Replay): string =>
  deterministic ? styled("green", "deterministic") : styled("red", "differs");

/** Prints the results of replays, with the place of each difference. */
export const replayText = (replays: ReadonlyArray<Replay>, wordsFor: Words): string => {
  if (replays.length === 0) return "No run found.";
  const differing = replays.filter((replay): replay is Different => !replay.deterministic);
  return [
    table(
      replays.map((replay) => [
        replay.workflowId,
        replay.type,
        String(replay.events),
        outcomeOf(replay),
      ]),
      { head: ["ID", "TYPE", "EVENTS", "REPLAY"] },
    ),
    ...differing.flatMap((replay) => [
      "",
      styled("bold", replay.workflowId),
      ...differenceLines(replay, wordsFor),
    ]),
  ].join("\n");
};
