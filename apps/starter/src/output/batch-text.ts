import { lookUp } from "@durable-payments/client/values";
import type { CancelledBatch, FilePlan, InboxItem } from "@durable-payments/control/payments";
import {
  type BatchDetails,
  type BatchRowView,
  type BatchTotal,
  type BatchView,
  type FileListing,
  MONEY_WORDS,
} from "@durable-payments/control/show";
import { plainCommand } from "../command-name.ts";
import { nextLines } from "./next.ts";
import {
  ago,
  beside,
  counted,
  joined,
  joinedLines,
  money,
  noteLines,
  pairs,
  payeeText,
  section,
  styled,
  totals,
  when,
  wrap,
} from "./text.ts";

/** The money of a card, in words. */
const CARD_WORDS: typeof MONEY_WORDS = {
  ...MONEY_WORDS,
  paid: "card issued",
  planned: "not issued yet",
  notPaid: "no card",
};

/** The state of a retry, in words. */
const RETRY_WORDS: Readonly<Record<string, string>> = {
  notStarted: "not retried yet",
  covered: "left out",
  rejected: "not retried",
  approval: "needs approval",
  asking: "needs an answer",
  missing: "not in Temporal",
  unknown: "outcome unknown",
  ended: "stopped by a person",
  returned: "came back",
  timedOut: "timed out",
};

type Typed = Pick<BatchView, "type">;

const moneyWords = (type: string): typeof MONEY_WORDS =>
  type === "payout" ? MONEY_WORDS : CARD_WORDS;

const outcomeText = (
  { type }: Typed,
  { isCovered, money, status }: Pick<BatchTotal, "isCovered" | "money" | "status">,
): string => {
  if (status !== undefined) return RETRY_WORDS[status] ?? status;
  const words = moneyWords(type);
  return isCovered ? `${words[money]} by another file` : words[money];
};

type Totals = Pick<BatchView, "totals" | "type">;

/** Words a total. A part of the money of a repair's runs may have another state than the rest. */
const totalText = (batch: Totals, total: BatchTotal): string => {
  const text = outcomeText(batch, total);
  const money = MONEY_WORDS[total.money];
  const isPart =
    total.status && batch.totals.some((one) => one !== total && one.status === total.status);
  return isPart && money !== text ? `${text}: ${money}` : text;
};

const rowCounts = (batch: Totals): string =>
  batch.totals
    .map((total) =>
      joined([String(total.rows || ""), totalText(batch, total), sumsText(total)], " "),
    )
    .join(", ");

const sumsText = ({ sums }: BatchTotal): string => (sums.length === 0 ? "" : `(${totals(sums)})`);

/** Unpaid rows that a plan names. */
const MOST_NAMED = 20;

/** Words the rows of a plan that another file has, and names those that it has not paid. */
export const knownLines = ({
  known,
  type,
}: Pick<FilePlan, "known" | "type">): ReadonlyArray<string> => {
  if (known.length === 0) return [];
  const unpaid = known.filter(({ money }) => money !== "paid");
  const named = unpaid
    .slice(0, MOST_NAMED)
    .map(({ money, number }) => `row ${number} (${moneyWords(type)[money]})`);
  const more = unpaid.length > named.length ? ["…"] : [];
  return [
    `${counted(known.length, "row")} already covered by another batch: not started again`,
    ...(unpaid.length === 0
      ? []
      : [`${unpaid.length} of them not successful there: ${[...named, ...more].join(", ")}`]),
  ];
};

/** Prints one line of a batch that is followed. */
export const followBatchLine = (batch: BatchView, now = Date.now()): string =>
  beside(`${when(now).slice(11, 19)}  `, `${batchState(batch)}  ${rowCounts(batch)}`);

const BATCH_STATES: Readonly<Record<string, string>> = {
  uploading: "its upload is incomplete: if interrupted, repeat the command, or cancel it",
  reading: "the worker is reading its payees or cardholders",
  needsApproval: "needs approval",
};

const rowOutcome = (batch: Typed, row: BatchRowView): string =>
  outcomeText(batch, {
    isCovered: row.status === "covered",
    money: row.state,
    ...(batch.type === "repair" && { status: row.status }),
  });

/** Words a row: the outcome of it, to whom, and why. */
const rowCells = (batch: Typed, row: BatchRowView): ReadonlyArray<string> => [
  `row ${row.number}`,
  row.workflowId,
  money(row),
  joined(
    [
      rowOutcome(batch, row),
      payeeText(row),
      row.holderId && `cardholder ${row.holderId}`,
      row.madeId,
      row.reason,
    ],
    "; ",
  ),
];

/** Words the state of a batch. */
const batchState = ({ approvedBy, pausedBy, state }: BatchView): string =>
  `${state === "approved" && approvedBy === null ? "started" : (BATCH_STATES[state] ?? state)}${pausedBy === null ? "" : `, paused by ${pausedBy}`}`;

/** Prints batches. */
export const batchesText = (
  { batches }: { readonly batches: ReadonlyArray<BatchView> },
  now = Date.now(),
): string =>
  batches.length === 0
    ? "No batch found."
    : batches
        .flatMap((batch) => [
          [styled("bold", batch.id), batchState(batch), ago(batch.createdAt, now)].join("  "),
          wrap(`${batch.file}: ${rowCounts(batch)}`, "    "),
        ])
        .join("\n");

/** Words whom a file pays, and how many of them for the first time; of a file of people, their card limits. */
const paysText = ({ newPayees, notFound, payees, sums }: FileListing, type: string): string => {
  if (type === "onboardCardholder")
    return `card limits of ${totals(sums)} for ${counted(payees, "person", "people")}`;
  const fresh = newPayees === 0 ? "" : `, ${newPayees} never paid before`;
  const lost = notFound === 0 ? "" : `, ${counted(notFound, "row")} to an unknown payee`;
  if (payees === 0) return totals(sums);
  return `${totals(sums)} to ${counted(payees, "payee")}${fresh}${lost}`;
};

/** Prints whom a file pays: the likely duplicates with the uploader's reason, the rows, and the sums. */
export const listingLines = (
  listing: FileListing,
  { notDuplicate, type, warnings }: Omit<NonNullable<InboxItem["file"]>, keyof FileListing>,
): ReadonlyArray<string> => {
  const title = type === "payout" ? "Pays" : type === "repair" ? "Retries" : "Onboards";
  const { notListed, rows } = listing;
  const cells = rows.map(({ isNew, reference, shown, ...row }) => [
    `row ${row.number}`,
    row.workflowId,
    money(row),
    joined([shown ?? "not read yet", isNew ? "NEW PAYEE" : "", reference], "; "),
  ]);
  const other = type === "repair" ? "other row" : "smaller row";
  const more = notListed === 0 ? "" : `… and ${counted(notListed, other)}. `;
  const first =
    type === "repair" ? "the amended and the largest rows" : `the largest ${rows.length} rows`;
  return [
    ...noteLines(warnings, "  "),
    ...(notDuplicate === null
      ? []
      : [wrap(`The uploader says that it is not a duplicate: ${notDuplicate}`, "  ")]),
    ...section(notListed === 0 ? title : `${title}, ${first}`, cells),
    wrap(`${more}Together: ${paysText(listing, type)}.`, "  "),
  ];
};

/** Returns the counts of rows and their money by outcome, for a table. */
export const totalRows = (batch: Totals) =>
  batch.totals.map((total) => [
    totalText(batch, total),
    String(total.rows || ""),
    totals(total.sums),
  ]);

const UNPAID = {
  payout: "Not paid by this file",
  repair: "Left out, not successful, or retried again",
};

/** Prints one batch: its totals, what it pays if it asks for that, and each row that it does not pay with the reason. */
export const batchText = (batch: BatchDetails): string => {
  const { approvedAt, approvedBy, createdAt, createdBy, file, id, next } = batch;
  const { listed, listing, notNamed, notPaid, rows, state: is, type } = batch;
  const unpaid = lookUp(UNPAID, type) ?? "No card by this file";
  const title = listed === null ? unpaid : "Every row";
  return joinedLines([
    styled("bold", id),
    pairs([
      ["status", batchState(batch)],
      ["file", `${file}, ${counted(rows, "row")}`],
      ["started", `${when(createdAt)} by ${createdBy}`],
      ["reason", batch.reason],
      [
        "approved",
        approvedBy && `${approvedAt === null ? "" : `${when(approvedAt)} `}by ${approvedBy}`,
      ],
      ["waits", is === "reading" && listing?.problem],
      ["hash", is === "needsApproval" && listing?.hash],
    ]),
    listing === null ? noteLines(batch.warnings, "  ") : listingLines(listing, batch),
    section("Rows", totalRows(batch)),
    (listed === null || listing === null) &&
      section(
        title,
        (listed ?? notPaid).map((row) => rowCells(batch, row)),
      ),
    notNamed > 0 &&
      listed === null && [
        wrap(`… and ${notNamed} more. For every row:`, "  "),
        `    ${styled("cyan", plainCommand("show", id, "--rows"))}`,
      ],
    nextLines(next),
  ]);
};

/** Words a cancelled file: what is not paid, what continues, and the money that had left. */
export const cancelledBatchText = ({
  batch,
  goOn,
  notStarted,
  sent,
  stopped,
  unanswered,
}: CancelledBatch & { readonly batch: string }): string =>
  joinedLines([
    `${batch} is cancelled: ${counted(notStarted, "row")} had not started, and will not start.`,
    stopped > 0 &&
      `${counted(stopped, "started row")} stopped: nothing more is sent under their ids.`,
    goOn > 0 && `${counted(goOn, "started row")} not stopped. To stop them, too: --started.`,
    unanswered > 0 &&
      `Temporal did not cancel ${unanswered} of them: those runs may stay open, and send nothing more.`,
    section(
      "Sent before, and not reversed",
      sent.map(({ state, ...of }) => [MONEY_WORDS[state], money(of)]),
    ),
  ]);
