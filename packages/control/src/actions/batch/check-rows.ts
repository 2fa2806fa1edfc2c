/*
 * Checks a file of payments or cardholders as a whole, before anything of it is uploaded.
 *
 * A file that is half right must not be half paid: its uploader would correct the rest and upload all of it. So every
 * fault of every row is named at once, and one fault refuses the file.
 */
import type { Assumptions } from "@durable-payments/client/effect";
import { cleanTexts, keyFault } from "@durable-payments/client/values";
import {
  fingerprintOf,
  type OnboardCardholderInput,
  type PayoutInput,
} from "@durable-payments/protocol";
import { createHash } from "node:crypto";
import { InvalidInput, invalidInput } from "../../errors.ts";
import { checkText } from "../../rules/filter.ts";
import { idOfKey, planOnboarding, planPayout } from "../../rules/input.ts";
import {
  columnOf,
  type FileType,
  LONGEST_ROW,
  type RowFault,
  rowFault,
  rowsOf,
  runReader,
} from "../../facts/read-file.ts";

/** The plan of a row, and the first part of the id of a batch of such rows. */
const TYPES = {
  payout: { plan: planPayout, batches: "payouts" },
  onboardCardholder: { plan: planOnboarding, batches: "onboardings" },
} as const;

/** A row of a file without faults. */
export interface CheckedRow {
  /** Line of the file on which it begins. */
  readonly number: number;
  /** `payout/KEY` or `onboardCardholder/KEY`, by the row's own key. */
  readonly workflowId: string;
  /** Hash of key and input, without options. */
  readonly fingerprint: string;
  readonly input: PayoutInput | OnboardCardholderInput;
}

/** A file without faults. */
export type CheckedFile = Awaited<ReturnType<typeof checkBatchFile>>;

/** Result files put a quote before a formula of a spreadsheet; it is not part of a key. */
const keyOf = (key: unknown): unknown =>
  typeof key === "string" ? key.replace(/^'+(?=[-=+@\uFF0B\uFF0D\uFF1D\uFF20])/, "") : key;

/** Checks each row, that keys are unique, and that one account pays all rows. */
const makeRowCheck = (type: FileType, isCsv: boolean, assumptions: Assumptions) => {
  const usedBy = new Map<string, number>();
  let account: { readonly row: number; readonly name: unknown } | undefined;
  // The same account is named in every row, and its fault once.
  let isAccountWrong = false;

  return (row: number, value: Readonly<Record<string, unknown>>) => {
    const { key: given, ...input } = cleanTexts(value);
    const faults: Array<RowFault> = [];
    const fault = (column: string, problem: string) => {
      if (column !== "account" || !isAccountWrong) faults.push(rowFault(row, column, problem));
      isAccountWrong ||= column === "account";
    };
    const key = String(keyOf(given));
    const problem = keyFault(keyOf(given));
    const first = usedBy.get(key);
    if (problem !== undefined) fault("key", problem);
    else if (first !== undefined) fault("key", `is already the key of row ${first}`);
    else usedBy.set(key, row);
    account ??= { row, name: input["account"] };
    if (account.name !== input["account"])
      fault("account", `differs from that of row ${account.row}: use one file per account`);
    if (!isCsv && JSON.stringify(input).length > LONGEST_ROW)
      fault("", `has more than ${LONGEST_ROW} characters`);
    try {
      return { key, input: TYPES[type].plan(input, assumptions).input, faults };
    } catch (error) {
      if (!(error instanceof InvalidInput) || error.faults === undefined) throw error;
      for (const { field, problem: what } of error.faults)
        fault(isCsv ? columnOf(field) : field, what);
      return { key, input: undefined, faults };
    }
  };
};

const MOST_FAULTS_NAMED = 100;

const wrongFile = (faults: ReadonlyArray<RowFault>): InvalidInput => {
  const count = faults.length === 1 ? "one fault" : `${faults.length} faults`;
  const named = faults.slice(0, MOST_FAULTS_NAMED);
  const first =
    named.length < faults.length ? `, of which these are the first ${named.length}` : "";
  return invalidInput(`The file has ${count}${first}. Nothing was started.`, named);
};

/**
 * Checks every row of a batch file. Nothing is sent.
 *
 * @param type of the workflow that each row starts.
 * @param file path of a `.csv`, `.jsonl` or `.ndjson` file in UTF-8.
 * @param assumptions about the service, by which each row is checked.
 * @throws InvalidInput that names the faults of all rows by row, column and rule.
 */
export const checkBatchFile = async (type: FileType, file: string, assumptions: Assumptions) => {
  checkText("file", file);
  const raws = rowsOf(file, runReader(type));
  const check = makeRowCheck(type, /\.csv$/i.test(file), assumptions);
  const faults: Array<RowFault> = [];
  const rows: Array<CheckedRow> = [];
  const content = createHash("sha256");
  for await (const raw of raws) {
    if ("fault" in raw) {
      faults.push(raw.fault);
      continue;
    }
    const { faults: found, input, key } = check(raw.row, raw.value);
    faults.push(...found);
    if (input === undefined || faults.length > 0) continue;
    const fingerprint = fingerprintOf(key, input);
    content.update(fingerprint);
    rows.push({ number: raw.row, workflowId: idOfKey(type, key), fingerprint, input });
  }
  if (faults.length > 0) throw wrongFile(faults);
  const [first] = rows;
  if (first === undefined) throw invalidInput(`${file} has no rows: there is nothing to start.`);
  const contentHash = content.digest("hex");
  return {
    type,
    file,
    contentHash,
    /** Id of its batch: equal rows are the same batch, in any file. */
    batch: `${TYPES[type].batches}/${contentHash.slice(0, 32)}`,
    rows,
    /** Name of the account that pays all of them, if they have one. */
    account: first.input.account,
  };
};
