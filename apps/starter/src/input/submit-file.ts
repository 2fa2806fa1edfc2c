import {
  checkBatchFile,
  checkResultFile,
  compareFunds,
  type FilePlan,
  type Funds,
  payFile,
  planFile,
  writeResultFile,
} from "@durable-payments/operations/batch";
import { readAssumptions } from "@durable-payments/operations/input";
import { similarText } from "@durable-payments/operations/start";
import * as Option from "effect/Option";
import type { PayFlags } from "../commands/pay.ts";
import { badUsage, EXIT_CODES } from "../exit-codes.ts";
import { confirm } from "../output/ask.ts";
import { nextLines } from "../output/next.ts";
import type { Output } from "../output/output.ts";
import { counted } from "../output/text.ts";
import { operating, readAccounts } from "../settings.ts";
import { actingOf } from "./acting.ts";

const MOST_WARNINGS = 20;

const fundsText = ({ available, currency, isEnough, problem, total }: Funds): string =>
  isEnough === null
    ? `${currency}: the balance is not known (${problem ?? "not read"})`
    : `${currency}: ${total} of ${available} available${isEnough ? "" : ": NOT ENOUGH"}`;

const planText = (plan: FilePlan, funds: ReadonlyArray<Funds>): ReadonlyArray<string> => {
  const amounts = Object.entries(plan.totals).map(([currency, total]) => `${total} ${currency}`);
  return [
    `${counted(plan.rows, "row")}, all valid: ${amounts.join(", ") || "nothing to pay"}`,
    `Batch: ${plan.batch}`,
    ...(plan.known.length === 0
      ? []
      : [`${counted(plan.known.length, "row")} already covered by another batch: not paid again`]),
    ...plan.similar
      .slice(0, MOST_WARNINGS)
      .map(
        ({ number, others }) =>
          `Row ${number} may be a duplicate of ${others.slice(0, 2).map(similarText).join("; ")}`,
      ),
    ...(plan.similar.length > MOST_WARNINGS
      ? [`… and ${plan.similar.length - MOST_WARNINGS} rows more that may be duplicates`]
      : []),
    ...funds.map(fundsText),
    ...(plan.needsApproval ? ["A second person has to approve it before anything is paid."] : []),
  ];
};

/** Checks a file, shows what it would pay, and pays it once that is confirmed. */
export const submitFile = async (
  output: Output,
  file: string,
  { approveAbove, id, isDryRun, results, window, yes, ...acting }: Omit<PayFlags, "file" | "json">,
): Promise<number> => {
  if (Option.isSome(id))
    throw badUsage("--id is for one payment: each row of a file has its own key.");
  const resultFile = Option.getOrUndefined(results);
  if (resultFile !== undefined) checkResultFile(resultFile);
  const options = {
    ...actingOf(acting),
    approveAbove: Option.getOrUndefined(approveAbove),
    window: Option.getOrUndefined(window),
  };
  const checked = await checkBatchFile(file, readAssumptions(process.env["PAYMENTS_ASSUMPTIONS"]));
  const accounts = await readAccounts();
  const payer = accounts.find(({ name }) => name === checked.account) ?? accounts[0];
  return operating(async (operations) => {
    const plan = await planFile(operations, checked, options);
    const funds = await compareFunds(plan.totals, payer.service);
    if (isDryRun) {
      output.answer({ ...plan, funds, isDryRun }, (shown) =>
        [...planText(shown, shown.funds), "Nothing was started."].join("\n"),
      );
      return EXIT_CODES.done;
    }
    if (!yes && plan.uploaded === undefined) {
      for (const line of planText(plan, funds)) output.say(line);
      await confirm("Pay this file?", "Nothing was started.");
    }
    const batch = await payFile(operations, checked, plan, options);
    if (resultFile !== undefined) await writeResultFile(operations.ledger, batch.id, resultFile);
    output.answer({ ...plan, state: batch.state }, (shown) =>
      [
        `${shown.batch}: ${shown.state === "needsApproval" ? "uploaded, waits for a second person's approval" : shown.state}`,
        ...nextLines([
          ...(shown.state === "needsApproval"
            ? [{ operation: "approve", workflowId: shown.batch } as const]
            : []),
          { operation: "show", workflowId: shown.batch },
        ]),
      ].join("\n"),
    );
    return EXIT_CODES.done;
  });
};
