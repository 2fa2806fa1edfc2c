/**
 * Reads the reports of the product as a person gets them: by the command line, as CSV. The words of its columns are
 * compared, not its types, so that a report which says something else than its code means is found.
 */
import { parse } from "csv-parse/sync";
import type { Environment } from "../environment/environment.ts";
import type { Line, MoneyState } from "./reports.ts";

/** The subject of the lines of a report by payee. */
export const ALL_PAYEES = "all payees";

/** The subject, state and payee of each line of the overview. */
export const ALL_UNDER_WAY = { subject: "all under way", state: "underWay", payee: "" } as const;

type Cells = Readonly<Record<string, string>>;

/** All reports of a campaign, each with its lines. */
export type Reports = Awaited<ReturnType<typeof readReports>>;

/** Runs the command line once for each report, and once for each file. */
export const readReports = async ({ operate, starter }: Environment, signal: AbortSignal) => {
  const csv = async (...args: ReadonlyArray<string>): Promise<ReadonlyArray<Cells>> =>
    parse<Cells>(await starter(...args), { columns: true });
  const runOf = (cells: Cells) => ({
    subject: cells["workflow_id"] ?? "",
    status: cells["status"] ?? "",
  });
  const lineOf = (cells: Cells): Line => ({
    subject: cells["workflow_id"] ?? "",
    // Whatever is written there is compared.
    state: cells["money"] as MoneyState,
    amount: cells["amount"] ?? "",
    currency: cells["currency"] ?? "",
    payee: cells["payee_account"] ?? "",
  });
  const listed = await csv("list", "--csv");
  // Its shape is that of the published schema.
  const { underWay } = JSON.parse(await starter("--json")) as {
    readonly underWay: { readonly money: ReadonlyArray<Pick<Line, "amount" | "currency">> };
  };
  const summed = await csv("report", "--since", "1d", "--by", "payee", "--csv");
  const batches = (await operate(({ ledger }) => ledger.batches(), signal)) ?? [];
  const rows: Array<Cells> = [];
  for (const { id } of batches.filter(({ type }) => type !== "repair"))
    rows.push(...(await csv("show", id, "--rows", "--csv")));
  return {
    /** A line for each payment, with the service's id of what was made and the status of the run. */
    list: listed
      .filter(({ amount }) => amount !== "")
      .map((cells) => ({ ...lineOf(cells), ...runOf(cells), id: cells["payout_id"] ?? "" })),
    /** The status of each run of the list, also of one without money. */
    runs: listed.map(runOf),
    /** A line for each payee, currency and state. */
    byPayee: summed
      // The books do not say when a payment that was never made was planned: only its own line is compared.
      .filter(
        ({ group, money }) => group === "payouts" && !["notPaid", "planned"].includes(money ?? ""),
      )
      .map((cells) => ({ ...lineOf(cells), subject: ALL_PAYEES, payee: cells["account"] ?? "" })),
    /** A line for each row of each file; its subject is the run. */
    files: rows.map(lineOf),
    /** A line for each currency in which the overview has payouts under way. */
    overview: underWay.money.map((money) => ({ ...ALL_UNDER_WAY, ...money })),
  };
};
