import type { Assumptions } from "@durable-payments/api-core";
import { checkId, type PlannedRun, readAssumptions } from "@durable-payments/operations/input";
import { paymentOf, startRun, summaryOf } from "@durable-payments/operations/start";
import * as Option from "effect/Option";
import type { OnboardFlags } from "../commands/pay.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { nextLines } from "../output/next.ts";
import type { Output } from "../output/output.ts";
import { operating } from "../settings.ts";
import { actingOf } from "./acting.ts";
import { readJson } from "./read-json.ts";

/** Checks the input, and starts its run or finds the one that exists. */
export const submit = async (
  output: Output,
  file: string,
  plan: (input: unknown, assumptions: Assumptions) => PlannedRun,
  { id, isDryRun, isNotDuplicate, ...acting }: Omit<OnboardFlags, "file" | "json">,
): Promise<number> => {
  const planned = plan(await readJson(file), readAssumptions(process.env["PAYMENTS_ASSUMPTIONS"]));
  const workflowId = Option.match(id, { onNone: () => planned.contentId, onSome: checkId });
  const summary = summaryOf(paymentOf(planned.input), planned.workflowType);
  if (isDryRun) {
    output.answer({ workflowId, summary, isDryRun }, (shown) =>
      [
        `${shown.summary}: the input is valid. Nothing was started.`,
        `Its id: ${shown.workflowId}`,
      ].join("\n"),
    );
    return EXIT_CODES.done;
  }
  const startedBy = actingOf(acting).by;
  const run = await operating((operations) =>
    startRun(operations, workflowId, planned, { startedBy, isNotDuplicate }),
  );
  output.answer({ ...run, summary }, (shown) => {
    const known = shown.isForgotten
      ? "was paid earlier; the ledger knows it. Nothing was started."
      : shown.isNew
        ? "started"
        : "exists already: nothing was started.";
    return [
      `${shown.workflowId}  ${shown.summary}: ${known}`,
      ...nextLines([{ operation: "show", workflowId: shown.workflowId, isFollowed: true }]),
    ].join("\n");
  });
  return EXIT_CODES.done;
};
