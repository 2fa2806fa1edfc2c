import type { NextAction } from "@durable-payments/control/errors";
import {
  type Inbox,
  type InboxItem,
  type PaymentView,
  readStatuses,
  type RunDetails,
  type Status,
  STATUSES,
  type StepView,
} from "@durable-payments/control/show";
import { listingLines } from "./batch-text.ts";
import { accountName } from "../payments.ts";
import { commandOf, nextLines } from "./next.ts";
import {
  beside,
  counted,
  duration,
  joined,
  money,
  noteLines,
  pairs,
  roughly,
  styled,
  totals,
  when,
  wrap,
} from "./text.ts";

type Colour = Parameters<typeof styled>[0];

/** Sign, colour and words of a status or a state of a step. */
const SHOWN: Readonly<
  Record<string, readonly [sign: string, colour?: Colour | undefined, words?: string]>
> = {
  asking: ["?", "yellow", "needs an answer"],
  approval: ["·", "yellow", "needs approval"],
  cancelled: ["–"],
  done: ["✓", "green", "succeeded"],
  ended: ["✗", "red", "stopped by a person"],
  returned: ["↩", "red", "came back"],
  failed: ["✗", "red"],
  paused: ["·", "yellow"],
  missing: ["?", "yellow", "not in Temporal"],
  ready: ["·", undefined, "not sent"],
  refused: ["✗", "red"],
  succeeded: ["✓", "green"],
  terminated: ["·", "red"],
  timedOut: ["✗", "red", "timed out"],
  undone: ["↩"],
  unknown: ["?", "yellow", "outcome unknown"],
};

/** Words a status or a state of a step. */
export const statusText = (status: string): string => {
  const [, colour, words = status] = SHOWN[status] ?? [];
  return colour === undefined ? words : styled(colour, words);
};

/** Reads statuses that are separated by commas, also in the words of a list. @throws InvalidInput if there is no such status. */
export const statusesIn = (text: string): ReadonlyArray<Status> =>
  readStatuses(
    text
      .split(",")
      .map((given) => STATUSES.find((one) => SHOWN[one]?.[2] === given.trim()) ?? given)
      .join(","),
  );

/** Words the payment of a run or a write: `250.00 EUR to b-1, Invoice 17`. */
const paymentText = (
  of: PaymentView & Pick<InboxItem, "payeeName">,
  sum = money(of),
  link = "to",
): string => {
  const { payee, payeeName } = of;
  const whom =
    payee === null
      ? ""
      : (payeeName ?? null) === null
        ? `${link} ${payee}`
        : `${link} ${payeeName} (${payee})`;
  return joined([joined([sum, whom], " "), of.reference], ", ");
};

const stepLine = (
  { endedAt, at, key, kind, name, readAfter, state, text, ...step }: StepView,
  now: number,
): string => {
  const [sign = "·", colour] = SHOWN[state] ?? [];
  const took = endedAt === null || endedAt - at < 1_000 ? "" : ` (${duration(endedAt - at)})`;
  const title =
    kind === "signal" || kind === "update"
      ? `${kind} ${name}`
      : `${name}${key === null ? "" : ` of ${key}`}`;
  const what = joined([money(step), text === "" ? statusText(state) : text], ": ");
  const mark = colour === undefined ? sign : styled(colour, sign);
  const start = `  ${mark} ${when(at).slice(11, 19)}  ${title}  `;
  const read =
    readAfter !== null &&
    `. ${readAfter > now ? "Read next at" : "Due to be read since"} ${when(readAfter)}`;
  return beside(start, `${what}${took}${read || ""}`);
};

/** Words the fields of an object; empty ones are left out. */
export const wordsOf = (fields: Readonly<Record<string, unknown>>): string =>
  Object.entries(fields)
    .filter(([, value]) => value !== null && value !== "")
    .map(
      ([name, value]) =>
        `${name} ${Array.isArray(value) ? value.join("; ") : typeof value === "string" ? value : JSON.stringify(value)}`,
    )
    .join(", ");

/** Prints one run: header, steps, question, link, and what can be done. */
export const runText = (run: RunDetails, now = Date.now()): string => {
  const { batch, batchRow, end, endedAt, startedAt, startedBy } = run;
  const account = run.payeeAccount && `account ending in ${run.payeeAccount}`;
  const named = [run.payeeName, account];
  const payeeName = run.payeeName && joined(named, ", ");
  const sumText = (sums: RunDetails["money"], link: string) =>
    paymentText({ ...run, payeeName }, totals(sums), link);
  // A limit of a card is not paid, and its card may not be issued.
  const limits = run.money.filter(({ group }) => group === "cards");
  const paid = run.money.filter(({ group }) => group !== "cards");
  const header = pairs([
    ["status", statusText(run.status)],
    ["why", run.reason],
    ["pays", (paid.length > 0 || limits.length === 0) && sumText(paid, "to")],
    ["card limit", limits.length > 0 && sumText(limits, "for")],
    ["type", run.type],
    ["run", run.runId],
    ["started", `${when(startedAt)}${startedBy === null ? "" : ` by ${startedBy}`}`],
    ["ended", endedAt !== null && `${when(endedAt)}, after ${duration(endedAt - startedAt)}`],
    ["batch", batch && `${batch}${batchRow === null ? "" : `, row ${batchRow}`}`],
    ["end", end && `by ${end.by}, ${when(end.at)}${end.reason === null ? "" : `: ${end.reason}`}`],
    ["Web UI", run.webUi],
  ]);
  return [
    styled("bold", run.workflowId),
    header,
    ...noteLines(run.notes, "  "),
    ...(run.steps.length === 0 ? [] : ["", styled("bold", "Steps")]),
    ...run.steps.map((step) => stepLine(step, now)),
    ...run.inbox.flatMap((item) => ["", itemText(item, now)]),
    ...nextLines(run.next.map(withName)),
  ].join("\n");
};

/** Prints one line of a run that is followed. */
export const followLine = ({ reason, status }: RunDetails, now = Date.now()): string =>
  beside(`${when(now).slice(11, 19)}  `, joined([statusText(status), reason], "  "));

/** Words the kinds of items of the inbox. */
export const KINDS: Readonly<Record<InboxItem["kind"], string>> = {
  question: "Question",
  approval: "Approval",
  batch: "Batch approval",
  limits: "Approval of limits",
  word: "Unknown status",
  late: "Late",
  unreadable: "Not shown by the service",
  missing: "Lost by Temporal",
  stalled: "Stalled file",
  unserved: "Not served",
};

/** Names the account of a command by its name, if the settings have it. */
const withName = (next: NextAction): NextAction =>
  next.account === undefined ? next : { ...next, account: accountName(next.account) };

/** The commands that decide, or help. */
const commandsFor = ({ next }: InboxItem): ReadonlyArray<string> =>
  next.map(withName).map(commandOf);

/** Words an item: its money, the consequences of each decision, then the reason. */
export const itemLines = (item: InboxItem, now = Date.now()): ReadonlyArray<string> => {
  const { candidates, details, kind, question, since, startedBy, step, things, workflowId } = item;
  const count = counted(
    things?.count ?? 1,
    kind === "missing" || kind === "unserved" ? "run" : "payment",
  );
  const pays =
    things === undefined ? paymentText(item) : joined([count, totals(things.money)], ", ");
  return [
    `${KINDS[kind]}: ${pays || (step ?? workflowId)}`,
    joined(
      [
        joined([workflowId, step], " "),
        question && `question ${question}`,
        `waiting for ${roughly(now - since)}`,
        startedBy && `started by ${startedBy}`,
      ],
      ", ",
    ),
    ...Object.values(item.choices),
    `Why: ${item.reason}`,
    ...(item.file?.reason ? [`Reason: ${item.file.reason}`] : []),
    ...details,
    ...candidates.map(
      (candidate, at) =>
        `Possible match (${at + 1} of ${candidates.length}): ${wordsOf(candidate)}`,
    ),
  ];
};

/** Words an item for the error of a script, with its command; the rows of a file are for `show`. */
export const commandLines = (item: InboxItem): ReadonlyArray<string> =>
  item.file === undefined
    ? [...itemLines(item), ...commandsFor(item)]
    : [commandOf({ action: "show", workflowId: item.workflowId })];

/** Prints all that a person reads before a decision. */
export const itemText = (item: InboxItem, now = Date.now(), number = ""): string => {
  const [title = "", ...lines] = itemLines(item, now);
  return [
    styled("bold", wrap(`${number}${title}`)),
    ...lines.map((line) => wrap(line, "   ")),
    ...(item.file === undefined ? [] : listingLines(item.file, item.file)),
  ].join("\n");
};

/** Prints the items that wait for a person. */
export const inboxText = ({ items }: Inbox, now = Date.now()): string => {
  const still = items.filter(({ things }) => things !== undefined).length;
  const questions = items.filter(({ kind }) => kind === "question").length;
  const parts = [
    counted(questions, "question"),
    counted(items.length - questions - still, "approval"),
    ...(still === 0 ? [] : [counted(still, "problem")]),
  ];
  return [
    items.length === 0 ? "Nothing is waiting for a person." : styled("bold", parts.join(" · ")),
    ...items.flatMap((item, index) => [
      "",
      itemText(item, now, `${index + 1}. `),
      ...commandsFor(item).map((command) => `   ${styled("cyan", command)}`),
    ]),
  ].join("\n");
};
