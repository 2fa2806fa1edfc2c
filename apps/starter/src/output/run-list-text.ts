import { lookUp } from "@durable-payments/api-core/values";
import { STEP, UNFINISHED } from "@durable-payments/protocol";
import {
  type ListedRun,
  type RunGroup,
  type StateName,
  totalsText,
} from "@durable-payments/operations/runs";
import { earlierRun, shownWithNext } from "./next-operation.ts";
import { styled } from "./styled.ts";
import { paymentText } from "./payment-text.ts";
import type { ListLayout } from "./stream.ts";
import { columnsOf, pad, roughDuration, terminalWidth, wrapDeeper } from "./text.ts";

const GAP = "  ";
const INDENT = "    ";
const STATE_WIDTH = 10;
const AGE_WIDTH = 5;

/** A row is printed before the next one is known: an id that is longer stands on its own line, whole. */
const idWidth = (): number => {
  const most = terminalWidth() - STATE_WIDTH - AGE_WIDTH - 2 * GAP.length;
  return Math.max(2, Math.min(terminalWidth() >= 120 ? 39 : 28, most));
};

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
  continuedAsNew: "cyan",
} as const satisfies Record<StateName | "continuedAsNew", string>;

const WAITS: Readonly<Record<string, string>> = {
  [STEP.awaitApproval]: "waits for a second person",
  [STEP.awaitFunds]: "waits for funds",
  [STEP.awaitPayouts]: "waits for its payouts",
  [STEP.awaitVerification]: "waits for the identity check",
};

const ago = (time: string): string => roughDuration(Date.now() - Date.parse(time));

/** How it stands: what it waits for, or why it ended as it did. */
const standingText = ({ awaits, failure, since, stage, state }: ListedRun): string => {
  const at = stage ?? "its start";
  const for_ = since === null ? "" : ` for ${ago(since)}`;
  const [awaited] = awaits;
  switch (state) {
    case "continuedAsNew":
      return `continued as new at ${at}`;
    case "completed":
      return stage === UNFINISHED ? "its payout was not complete in time" : "";
    case "running":
      return `at ${at}${for_}`;
    case "paused":
      return `paused at ${at}`;
    case "attention":
      return `${lookUp(WAITS, at) ?? "waits for a person's decision"}${for_}`;
    case "waiting":
      return `${lookUp(WAITS, at) ?? `waits for ${awaited?.replace(":", " ") ?? at}`}${for_}`;
    default: {
      const reason = failure?.message ?? state;
      return reason.startsWith(at) ? reason : `${at}: ${reason}`;
    }
  }
};

/** What it is to do: its type, what it moves and to whom. */
const whatOf = ({ payment, payouts, type, unreadable }: ListedRun): string => {
  if (unreadable !== undefined) return `${type}, what it moves cannot be read: ${unreadable}`;
  if (payouts !== null) {
    return [type, payouts.file ?? "", `${payouts.rows} rows,`, totalsText(payouts.totals)]
      .concat(payouts.account === undefined ? [] : [`from ${payouts.account}`])
      .filter((part) => part !== "")
      .join(" ");
  }
  return payment === null ? type : `${type} ${paymentText(payment)}`;
};

const line = (run: ListedRun): string => {
  const { startedAt, state, workflowId } = run;
  const columns = terminalWidth();
  const shownState = state === "continuedAsNew" ? "continued" : state;
  const coloured = styled(STATE_STYLES[state], shownState.padEnd(STATE_WIDTH));
  const isLong = columnsOf(workflowId) > idWidth();
  const begin = [pad(isLong ? "" : workflowId, idWidth()), "".padEnd(STATE_WIDTH)];
  const start = [...begin, ago(startedAt).padEnd(AGE_WIDTH)].join(GAP);
  const shown = [begin[0], coloured, ago(startedAt).padEnd(AGE_WIDTH)].join(GAP);
  const what = whatOf(run);
  const fits = columnsOf(start) + GAP.length + columnsOf(what) <= columns;
  const standing = standingText(run);
  return [
    ...(isLong ? [workflowId] : []),
    fits ? `${shown}${GAP}${what}` : shown.trimEnd(),
    ...(fits ? [] : [wrapDeeper(what, INDENT, columns)]),
    ...(standing === "" ? [] : [wrapDeeper(standing, INDENT, columns)]),
    ...(run.isEarlier === true
      ? [wrapDeeper(shownWithNext(earlierRun(run)), INDENT, columns)]
      : []),
  ].join("\n");
};

const head = (): string =>
  styled(
    "bold",
    [pad("ID", idWidth()), "STATE".padEnd(STATE_WIDTH), "AGE".padEnd(AGE_WIDTH), "WHAT"]
      .join(GAP)
      .slice(0, terminalWidth()),
  );

/** A list of runs, as a table and as JSON. */
export const runListLayout = {
  field: "runs",
  head,
  row: line,
  none: "No such run.",
  more: (limit: number) => `These are the first ${limit}; --limit N shows more.`,
} as const satisfies Omit<ListLayout<ListedRun>, "limit">;

/** Runs by how and why they stand as they do, as a person reads it. */
export const groupsText = (groups: ReadonlyArray<RunGroup>): string => {
  if (groups.length === 0) return "No such run.";
  const columns = terminalWidth();
  return groups
    .map(({ count, example, reason, stage, state, totals, type }) =>
      [
        wrapDeeper(
          `${styled("bold", String(count))} ${type} ${styled(STATE_STYLES[state], state)} at ${stage ?? "its start"}${Object.keys(totals).length === 0 ? "" : `, in all ${totalsText(totals)}`}`,
          "",
          columns,
        ),
        ...(reason === null ? [] : [wrapDeeper(reason, INDENT, columns)]),
        wrapDeeper(`such as ${example}`, INDENT, columns),
      ].join("\n"),
    )
    .join("\n");
};
