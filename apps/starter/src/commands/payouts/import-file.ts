import {
  approvalText,
  checkBatchFile,
  type CheckedFile,
  checkResultFile,
  compareFunds,
  countedRows,
  findRows,
  type FoundRows,
  importBatch,
  type ImportOptions,
  rowsOfFile,
  type StartedAs,
  totalsText,
  unpaid,
} from "@durable-payments/operations/batch";
import { readRetention, type Temporal } from "@durable-payments/operations/connection";
import { ConnectionFailed } from "@durable-payments/operations/errors";
import { codesOf, EXIT_CODES } from "../../exit-codes.ts";
import { countsText } from "../../output/batch-text.ts";
import { showBatch } from "../../output/follow-batch.ts";
import { dryRunText, inDoubtText, type Memory, paidBeforeText } from "../../output/import-text.ts";
import { shownWithNext } from "../../output/next-operation.ts";
import type { Output } from "../../output/output.ts";
import { wrap } from "../../output/text.ts";
import { visible } from "../../output/visible.ts";
import { readAccount, readAssumptions, withTemporal } from "../../settings.ts";
import { reportOn, writeResults } from "./report-on.ts";

/** What `starter payouts import` is given. */
export interface ImportFlags extends Omit<ImportOptions, "journal"> {
  readonly file: string;
  readonly dryRun: boolean;
  readonly wait: boolean;
  readonly result: string | undefined;
}

/** Shows a count on the way; not each row, which would take longer than the work. */
const counting =
  (output: Output, what: string, every = 1_000) =>
  (count: number): void => {
    if (count % every === 0) output.live(`… ${what} ${count}`);
  };

const showingRows =
  (output: Output, { rows: all }: CheckedFile) =>
  (rows: number) =>
    output.live(`… compared row ${rows} of ${all} with earlier runs`);

const dryRun = async (
  output: Output,
  checked: CheckedFile,
  { overrule }: ImportFlags,
): Promise<number> => {
  const account = await readAccount(checked.account);
  const funds = await compareFunds(checked.totals, await account.service());
  let found: Memory | undefined;
  let unreached: ConnectionFailed | undefined;
  try {
    found = await withTemporal(async (temporal) => ({
      ...(await findRows(temporal, checked, account.journal, showingRows(output, checked))),
      retentionMs: await readRetention(temporal),
    }));
  } catch (error) {
    // What is known without Temporal is reported all the same.
    if (!(error instanceof ConnectionFailed)) throw error;
    unreached = error;
    const { message, next } = error;
    output.say(
      wrap(
        `Which rows were paid before is not known. ${shownWithNext(visible({ message, next }))}`,
      ),
    );
  }
  const { batch, rows, totals } = checked;
  output.answer(
    { checked, funds, found },
    (shown) => dryRunText(shown.checked, shown.funds, shown.found),
    () => ({
      status: "checked",
      workflowId: batch,
      rows,
      totals,
      funds,
      known: found?.known ?? null,
      new: found?.new ?? null,
      newTotals: found?.newTotals ?? null,
      newRows: found?.newRows ?? null,
      paidBefore: found?.paidBefore ?? null,
      inDoubt: found?.inDoubt ?? null,
      rejected: found?.rejected ?? null,
      retentionMs: found?.retentionMs ?? null,
    }),
  );
  if (unreached !== undefined) return codesOf(unreached).exitCode;
  const isRefused = overrule === undefined && (found?.rejected ?? []).length > 0;
  return isRefused ? EXIT_CODES.badInput : EXIT_CODES.done;
};

/** Nothing is to be started: each row has its run, of other files. */
const answerNothingNew = async (
  temporal: Temporal,
  checked: CheckedFile,
  output: Output,
  { result, wait }: Pick<ImportFlags, "result" | "wait">,
): Promise<number> => {
  const { batch, rows, totals } = checked;
  const chunks = () => rowsOfFile(checked);
  const onUpdate = showBatch(output);
  const { others } = await countedRows(temporal, batch, chunks, { onUpdate, wait });
  if (result !== undefined) await writeResults(temporal, chunks(), result, checked.account);
  output.live(undefined);
  output.answer(
    { status: "nothingNew", workflowId: batch, rows, totals, known: rows, new: 0, others },
    () =>
      wrap(
        `Each of the ${rows} rows is known: nothing was started. Of them ${countsText(others)}.`,
      ),
  );
  return unpaid(others) === 0 ? EXIT_CODES.done : EXIT_CODES.runFailed;
};

/** The file is being paid: as this import would, or by somebody else or with another approval. */
const runningText = (
  batch: string,
  as: StartedAs | undefined,
  {
    approveAbove,
    overrule,
    startedBy,
  }: Pick<ImportOptions, "approveAbove" | "overrule" | "startedBy">,
): string =>
  wrap(
    as === undefined
      ? `This file is being paid already: ${batch}. Nothing was started.`
      : `This file is being paid already: ${batch}, started by ${String(as.startedBy)}, ${approvalText(as)}. This import, by ${startedBy}, ${approvalText({ approveAbove, isOverruling: overrule !== undefined })}, has started nothing.`,
  );

const sayFound = (output: Output, given: FoundRows): void => {
  const found = visible(given);
  if (found.known > 0) {
    output.say(
      wrap(`${found.known} rows are known; ${found.new} are new: lines ${found.newRows}.`),
    );
  }
  if (found.paidBefore !== 0) output.say(wrap(`Paid before: ${paidBeforeText(found)}.`));
  if (inDoubtText(found) !== "") output.say(wrap(`In doubt: ${inDoubtText(found)}.`));
};

const submit = async (
  temporal: Temporal,
  checked: CheckedFile,
  output: Output,
  flags: ImportFlags,
): Promise<number> => {
  const { batch, chunks, rows } = checked;
  const { journal } = await readAccount(checked.account);
  const options = { ...flags, journal };
  const imported = await importBatch(temporal, checked, options, {
    onRows: showingRows(output, checked),
    onFound: (found) => {
      sayFound(output, found);
      output.onInterrupt = () =>
        output.say("Nothing was started. The same command goes on where this one stopped.");
    },
    onChunk: (chunk) => output.live(`… wrote chunk ${chunk} of ${chunks.length}`),
    onWritten: () => {
      output.onInterrupt = undefined;
    },
  });
  switch (imported.outcome) {
    case "nothingNew":
      return await answerNothingNew(temporal, checked, output, flags);
    case "running":
      output.say(runningText(batch, imported.startedAs, options));
      break;
    case "known":
      output.say(`Each row of this file has its run already: ${batch}. Nothing was started.`);
      break;
    case "started": {
      const { new: fresh, newTotals } = imported.found;
      output.live(undefined);
      output.say(
        wrap(`Started ${batch}: ${fresh} of ${rows} rows, in all ${totalsText(newTotals)}.`),
      );
    }
  }
  return await reportOn(temporal, batch, output, flags);
};

/** Check a file, and pay its rows unless they are known. */
export const importFile = async (output: Output, flags: ImportFlags): Promise<number> => {
  checkResultFile(flags.result);
  const assumptions = await readAssumptions();
  const checked = await checkBatchFile(flags.file, assumptions, counting(output, "checked row"));
  output.live(undefined);
  if (flags.dryRun) return await dryRun(output, checked, flags);
  return await withTemporal((temporal) => submit(temporal, checked, output, flags));
};
