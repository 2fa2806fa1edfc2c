import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { comparedEvents, type History, type RecordedEvent } from "./history.ts";
import type { Activation, Recorded, RecordedCommand } from "./record.ts";

/** A line of the sources. */
export interface Frame {
  /** Path from the current folder. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The line itself, if the file can be read. */
  readonly source?: string;
}

/** Where the code first did something else than a history has. */
export interface Difference {
  /** The event that the code did not lead to; left out if the history ends before. */
  readonly event?: Recorded & { readonly id: number };
  /** Command of the code instead; left out if it did nothing. */
  readonly command?: Recorded;
  /** Where the code gave the command, or else waits: lines of its sources, innermost first; empty if it has ended. */
  readonly stack: ReadonlyArray<Frame>;
}

const FRAME = /(?:\(|^at )((?:file:\/\/)?\/[^():]+|[A-Za-z]:\\[^():]+):(\d+):(\d+)\)?$/;

const sourceOf = (file: string, line: number): string | undefined => {
  try {
    return readFileSync(file, "utf8").split("\n")[line - 1]?.trim();
  } catch {
    return undefined;
  }
};

/** Returns the lines of the workflow's own sources in a stack, innermost first; frames of libraries say nothing. */
export const framesOf = (stack: string): ReadonlyArray<Frame> =>
  stack.split("\n").flatMap((text) => {
    const [, path = "", line = "", column = ""] = FRAME.exec(text.trim()) ?? [];
    if (path === "" || path.includes("node_modules")) return [];
    const file = path.startsWith("file://") ? fileURLToPath(path) : path;
    const source = sourceOf(file, Number(line));
    return [
      {
        file: relative(process.cwd(), file),
        line: Number(line),
        column: Number(column),
        ...(source !== undefined && { source }),
      },
    ];
  });

/** Returns the commands that reach the server: not those that were taken back in the same workflow task. */
const lastingCommands = (
  activations: ReadonlyArray<Activation>,
): ReadonlyArray<RecordedCommand> => {
  const takenBack = new Set(
    activations.flatMap(({ task, takenBack }) => takenBack.map((key) => `${task} ${key}`)),
  );
  return activations.flatMap(({ commands, task }) =>
    commands.filter(({ key }) => !takenBack.has(`${task} ${key}`)),
  );
};

/**
 * Returns the frames of the longest of the stacks that pass through the workflow's own lines. It is measured with the
 * frames of libraries: a wait of a library itself is near its start.
 */
const longest = (stacks: ReadonlyArray<string>): ReadonlyArray<Frame> =>
  stacks
    .toSorted((one, other) => other.split("\n").length - one.split("\n").length)
    .map(framesOf)
    .find((frames) => frames.length > 0) ?? [];

const pick = (recorded: Recorded, names: ReadonlyArray<keyof Recorded>): Recorded => ({
  type: recorded.type,
  ...Object.fromEntries(
    names.flatMap((name) => (recorded[name] === undefined ? [] : [[name, recorded[name]]])),
  ),
});

const differenceAt = (
  event: RecordedEvent | undefined,
  command: RecordedCommand | undefined,
  activations: ReadonlyArray<Activation>,
  names: ReadonlyArray<keyof Recorded>,
): Difference => ({
  ...(event && { event: { id: event.id, ...pick(event, names) } }),
  ...(command && { command: pick(command, names) }),
  stack: command ? framesOf(command.stack) : longest(activations.at(-1)?.waitsAt ?? []),
});

/** Finds where a replay that failed left its history. */
export const firstDifference = (
  history: History,
  activations: ReadonlyArray<Activation>,
): Difference => {
  const events = comparedEvents(history);
  const commands = lastingCommands(activations);
  const isAlike = (event: Recorded, command: Recorded | undefined) =>
    event.type === command?.type &&
    event.name === command.name &&
    event.workflowId === command.workflowId;
  const at = events.findIndex((event, index) => !isAlike(event, commands[index]));
  const index = at === -1 ? events.length : at;
  return differenceAt(events[index], commands[index], activations, ["name", "workflowId"]);
};

/** Finds the first activity that sends another step than the history has: for the ledger that is another payment. */
export const firstOtherStep = (
  history: History,
  activations: ReadonlyArray<Activation>,
): Difference | undefined => {
  const byId = new Map(
    lastingCommands(activations).map((command) => [command.activityId, command] as const),
  );
  for (const event of comparedEvents(history)) {
    const command = event.activityId === undefined ? undefined : byId.get(event.activityId);
    if (command === undefined || event.step === undefined || event.step === command.step) continue;
    return differenceAt(event, command, activations, ["name", "step"]);
  }
  return undefined;
};
