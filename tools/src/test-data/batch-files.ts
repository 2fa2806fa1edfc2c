import { beneficiary, options, payout } from "./inputs.ts";

/** A row of a batch file: a payout file with a key. */
export interface TestRow {
  readonly key: string;
  readonly beneficiary_id?: string;
  readonly beneficiary?: Readonly<Record<string, string>>;
  readonly payout: Readonly<Record<string, string>>;
  readonly options?: unknown;
}

/** Rows of 1.00, 2.00, … EUR, each to a new beneficiary. */
export const makeRows = (
  prefix: string,
  count: number,
  change: (index: number) => Partial<TestRow> = () => ({}),
): ReadonlyArray<TestRow> =>
  Array.from({ length: count }, (_, index) => ({
    key: `${prefix}-${index}`,
    beneficiary,
    payout: { ...payout, amount: `${index + 1}.00` },
    options,
    ...change(index),
  }));

/** The text of a JSON Lines file. */
export const jsonLines = (rows: ReadonlyArray<TestRow>): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join("");

const flat = (value: object, within = ""): ReadonlyArray<readonly [string, string]> =>
  Object.entries(value).flatMap(([name, field]: [string, unknown]) =>
    typeof field === "object" && field !== null
      ? flat(field, name === "payout" ? "" : `${within}${name}.`)
      : [[`${within}${name}`, String(field)] as const],
  );

/** The text of a CSV file of the same rows. */
export const csv = (rows: ReadonlyArray<TestRow>): string => {
  const cells = rows.map((row) => new Map(flat(row)));
  const header = [...new Set(cells.flatMap((row) => [...row.keys()]))];
  const lines = cells.map((row) =>
    header.map((name) => `"${(row.get(name) ?? "").replaceAll('"', '""')}"`).join(),
  );
  return [header.join(), ...lines, ""].join("\n");
};
