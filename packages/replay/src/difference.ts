import { comparedEvents, type History, type RecordedEvent } from "./history.ts";
import { type Activation, MARKER, type Recorded, type RecordedCommand } from "./record.ts";
import { type Frame, framesOf } from "./stack.ts";

/** Where the code first did something else than a history has. */
export interface Difference {
  /** The event that the code did not lead to; none where the history ends before. */
  readonly event?: Recorded & { readonly id: number };
  /** What the code would have recorded instead; none where it did nothing. */
  readonly command?: Recorded;
  /** Where the code stood when it did that: lines of its sources, innermost first. */
  readonly stack: ReadonlyArray<Frame>;
  /** Where the code waits since; no line where it has ended. */
  readonly waitsAt: ReadonlyArray<Frame>;
}

/** The commands that reach the server: not those that were taken back in the same workflow task. */
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

const isLocal = ({ key, type }: { readonly key?: string; readonly type: string }): boolean =>
  type === MARKER && key !== undefined;

const isAlike = (event: Recorded, command: Recorded): boolean =>
  event.type === command.type &&
  event.name === command.name &&
  event.workflowId === command.workflowId;

interface Pair {
  readonly event?: RecordedEvent;
  readonly command?: RecordedCommand;
}

/** Local activities are kept when they end, which may be in any order: they are paired by number. */
const firstUnlikeLocal = (
  events: ReadonlyArray<RecordedEvent>,
  commands: ReadonlyArray<RecordedCommand>,
): Pair | undefined => {
  const byKey = new Map(commands.filter(isLocal).map((command) => [command.key, command]));
  for (const event of events.filter(isLocal)) {
    const command = byKey.get(event.key);
    if (command === undefined) return { event };
    if (!isAlike(event, command)) return { event, command };
  }
  return undefined;
};

/** All else is recorded in the order in which it was decided. */
const firstUnlike = (
  events: ReadonlyArray<RecordedEvent>,
  commands: ReadonlyArray<RecordedCommand>,
): Pair | undefined => {
  const lasting = commands.filter((command) => !isLocal(command));
  const expected = events.filter((event) => !isLocal(event));
  const at = expected.findIndex((event, index) => {
    const command = lasting[index];
    return command === undefined || !isAlike(event, command);
  });
  const index = at === -1 ? expected.length : at;
  const event = expected[index];
  const command = lasting[index];
  return event === undefined && command === undefined
    ? undefined
    : { ...(event && { event }), ...(command && { command }) };
};

const earlier = (one: Pair | undefined, other: Pair | undefined): Pair | undefined =>
  (one?.event?.id ?? Infinity) <= (other?.event?.id ?? Infinity) ? (one ?? other) : other;

const linesOf = (stack: string): number => stack.split("\n").length;

/**
 * Frames of the longest of the stacks that pass through the workflow's own lines. It is measured with the
 * frames of libraries: what the libraries wait for themselves, beside the workflow, waits near its start.
 */
const longest = (stacks: ReadonlyArray<string>): ReadonlyArray<Frame> =>
  stacks
    .toSorted((one, other) => linesOf(other) - linesOf(one))
    .map(framesOf)
    .find((frames) => frames.length > 0) ?? [];

const differenceAt = (
  { command, event }: Pair,
  activations: ReadonlyArray<Activation>,
  shown: (recorded: Recorded) => Recorded,
): Difference => ({
  ...(event && { event: { id: event.id, ...shown(event) } }),
  ...(command && { command: shown(command) }),
  stack: framesOf(command?.stack ?? ""),
  waitsAt: longest(activations.at(-1)?.waitsAt ?? []),
});

/** Find where a replay that failed left its history. */
export const firstDifference = (
  history: History,
  activations: ReadonlyArray<Activation>,
): Difference => {
  const events = comparedEvents(history);
  const commands = lastingCommands(activations);
  const first = earlier(firstUnlikeLocal(events, commands), firstUnlike(events, commands)) ?? {};
  return differenceAt(first, activations, ({ name, type, workflowId }) => ({
    type,
    ...(name !== undefined && { name }),
    ...(workflowId !== undefined && { workflowId }),
  }));
};

/** Find the first activity that sends another step than the history has: for the ledger that is another payment. */
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
    return differenceAt({ event, command }, activations, ({ name, step, type }) => ({
      type,
      ...(name !== undefined && { name }),
      ...(step !== undefined && { step }),
    }));
  }
  return undefined;
};
