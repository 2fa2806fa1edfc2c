import { styled } from "./styled.ts";
import type { ListLayout } from "./stream.ts";
import { columnsOf, cut, pad, roughDuration } from "./text.ts";
import type { ListedRun, StateName } from "@durable-payments/operations/runs";

/** Widths are fixed: a row is printed before the next one is known. */
const COLUMNS = { id: 39, state: 10, stage: 18 } as const;
const GAP = "  ";

/** The colour of each state. */
export const STATE_STYLES = {
  running: "cyan",
  waiting: "cyan",
  attention: "yellow",
  paused: "yellow",
  completed: "green",
  failed: "red",
  timedOut: "red",
  cancelled: "gray",
  terminated: "gray",
} as const satisfies Record<StateName, string>;

const row = (id: string, state: string, stage: string, age: string): string =>
  [pad(id, COLUMNS.id), state, pad(cut(stage, COLUMNS.stage), COLUMNS.stage), age].join(GAP);

const head = (): string => styled("bold", row("ID", "STATE".padEnd(COLUMNS.state), "STAGE", "AGE"));

/** An id that is too long for its column stands on its own line, whole. */
const line = ({ stage, startedAt, state, workflowId }: ListedRun): string => {
  const age = roughDuration(Date.now() - Date.parse(startedAt));
  const coloured = styled(STATE_STYLES[state], state.padEnd(COLUMNS.state));
  const isLong = columnsOf(workflowId) > COLUMNS.id;
  const rest = row(isLong ? "" : workflowId, coloured, stage ?? "–", age);
  return isLong ? `${workflowId}\n${rest}` : rest;
};

/** A list of runs, as a table and as JSON. */
export const runListLayout = {
  field: "runs",
  head,
  row: line,
  none: "No such run.",
  more: (limit: number) => `These are the first ${limit}; --limit N shows more.`,
} as const satisfies Omit<ListLayout<ListedRun>, "limit">;
