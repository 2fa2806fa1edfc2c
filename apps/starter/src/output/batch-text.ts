import type { BatchDetails, BatchView, FileListing } from "@durable-payments/control/show";
import { nextLines, plainCommand } from "./next.ts";
import {
  ago,
  counted,
  joined,
  money,
  noteLines,
  pairs,
  section,
  styled,
  totals,
  when,
  wrap,
} from "./text.ts";

const rowCounts = ({ counts }: BatchView): string =>
  counts
    .map(({ amount, currency, rows, state }) => {
      const sum = currency === null ? "" : ` (${money({ amount, currency })})`;
      return `${rows} ${ROW_STATES[state] ?? state}${sum}`;
    })
    .join(", ");

const BATCH_STATES: Readonly<Record<string, string>> = {
  reading: "the worker reads its payees",
  needsApproval: "needs approval",
};

const ROW_STATES: Readonly<Record<string, string>> = { covered: "in an earlier file" };

/** Words the state of a batch. */
const batchState = ({ pausedBy, state }: BatchView): string =>
  `${BATCH_STATES[state] ?? state}${pausedBy === null ? "" : `, paused by ${pausedBy}`}`;

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

/** Words whom a file pays, and how many of them for the first time. */
const paysText = ({ newPayees, notFound, payees, sums }: FileListing): string => {
  const fresh = newPayees === 0 ? "" : `, ${newPayees} never paid before`;
  const lost = notFound === 0 ? "" : `, ${counted(notFound, "row")} to an unknown payee`;
  return `${totals(sums)} to ${counted(payees, "payee")}${fresh}${lost}`;
};

/** Prints whom a file pays: the likely duplicates with the uploader's reason, the rows, and the sums. */
export const listingLines = (
  listing: FileListing,
  { notDuplicate, warnings }: Pick<BatchDetails, "notDuplicate" | "warnings">,
): ReadonlyArray<string> => {
  const { notListed, rows } = listing;
  const cells = rows.map(({ isNew, reference, shown, ...row }) => [
    `row ${row.number}`,
    row.workflowId,
    money(row),
    joined([shown ?? "not read yet", isNew ? "NEW PAYEE" : "", reference], "; "),
  ]);
  const more = notListed === 0 ? "" : `… and ${counted(notListed, "smaller row")}. `;
  return [
    ...noteLines(warnings, "  "),
    ...(notDuplicate === null
      ? []
      : [wrap(`No duplicate, says the uploader: ${notDuplicate}`, "  ")]),
    ...section(notListed === 0 ? "Pays" : `Pays, the largest ${rows.length} rows`, cells),
    wrap(`${more}Together: ${paysText(listing)}.`, "  "),
  ];
};

/** Prints one batch: its counts, what it pays if that is asked, and each row that it does not pay with the reason. */
export const batchText = (batch: BatchDetails): string => {
  const { approvedBy, counts, createdAt, createdBy, file, id, next } = batch;
  const { listing, notNamed, notPaid, rows, state: is } = batch;
  const titles = { failed: "Failed", rejected: "Rejected", covered: "In an earlier file" };
  return [
    styled("bold", id),
    pairs([
      ["status", batchState(batch)],
      ["file", `${file}, ${counted(rows, "row")}`],
      ["started", `${when(createdAt)} by ${createdBy}`],
      ["approved", approvedBy && `by ${approvedBy}`],
      ["waits", is === "reading" && listing?.problem],
      ["hash", is === "needsApproval" && listing?.hash],
    ]),
    ...(listing === null ? noteLines(batch.warnings, "  ") : listingLines(listing, batch)),
    ...section(
      "Rows",
      counts.map(({ amount, currency, rows: count, state }) => [
        ROW_STATES[state] ?? state,
        String(count),
        currency === null ? "" : money({ amount, currency }),
      ]),
    ),
    ...Object.entries(titles).flatMap(([state, title]) =>
      section(
        title,
        notPaid.flatMap(({ message, number, workflowId, ...row }) =>
          row.state === state
            ? [[`row ${number}`, workflowId, money(row), message ?? "no reason"]]
            : [],
        ),
      ),
    ),
    ...(notNamed === 0
      ? []
      : [
          wrap(`… and ${notNamed} more. For every row, pass --results with the file:`, "  "),
          `    ${styled("cyan", plainCommand("pay", file, "--results", "results.csv"))}`,
        ]),
    ...nextLines(next),
  ].join("\n");
};
