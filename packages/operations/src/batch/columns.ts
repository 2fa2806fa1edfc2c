import { nearestName } from "@durable-payments/api-core";
import { operation } from "@durable-payments/api-core/contract";
import { invalidInput } from "../errors.ts";

const fieldsOf = (name: "createBeneficiary" | "createPayout"): ReadonlyArray<string> =>
  operation(name).payload?.fields ?? [];

const OPTIONS = ["onLostBeneficiary", "approval.above", "completeWithin"];

const PAYOUT = "payout.";

/** Where a column belongs in a payout file: its own name but for the fields of the payout. */
const PATHS: ReadonlyMap<string, string> = new Map([
  ["key", "key"],
  ["account", "account"],
  ["beneficiary_id", "beneficiary_id"],
  ...fieldsOf("createBeneficiary").map((field) => {
    const path = `beneficiary.${field}`;
    return [path, path] as const;
  }),
  ...fieldsOf("createPayout")
    .filter((field) => field !== "beneficiary_id" && field !== "unique_request_id")
    .map((field) => [field, `${PAYOUT}${field}`] as const),
  ...OPTIONS.map((option) => [`options.${option}`, `options.${option}`] as const),
]);

/** The columns that a CSV file may have. */
const COLUMNS: ReadonlyArray<string> = [...PATHS.keys()];

/** The column that a path of a payout file came from. */
export const columnOf = (path: string): string =>
  path.startsWith(PAYOUT) ? path.slice(PAYOUT.length) : path;

/**
 * The paths that the columns of a header stand for.
 *
 * @throws InvalidInput that names every column that there is not, or that there is twice
 */
export const pathsOf = (header: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const names = header.map((name) => name.trim());
  const [only = ""] = names;
  if (names.length === 1 && /[;\t]/.test(only)) {
    throw invalidInput("The columns of a CSV file must be separated by commas.");
  }
  const faults = names.flatMap((name, index) => {
    if (names.indexOf(name) < index)
      return [{ field: `column ${name}`, problem: "stands there twice" }];
    if (PATHS.has(name)) return [];
    const like = nearestName(name, COLUMNS);
    const problem = `is not known${like === undefined ? "" : `: is it ${like}?`}`;
    return [{ field: `column ${name === "" ? index + 1 : name}`, problem }];
  });
  if (!names.includes("key")) faults.push({ field: "column key", problem: "is missing" });
  if (faults.length > 0) throw invalidInput("The header is wrong. Nothing was started.", faults);
  return names.map((name) => (PATHS.get(name) ?? name).split("."));
};
