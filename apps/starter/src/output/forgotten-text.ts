import type { ForgottenRun } from "@durable-payments/operations/start";
import { utc } from "@durable-payments/protocol";
import { columns, fieldRows, wrap, wrapDeeper } from "./text.ts";

const OUTCOMES = {
  begun: "no answer is known: it may have been carried out",
  carriedOut: "carried out",
  notCarriedOut: "not carried out",
  unknown: "no answer is known: it may have been carried out",
  undone: "carried out, and undone since",
} as const;

/** A run that Temporal has forgotten, as the journal has it, and what can be done. */
export const forgottenText = ({ isDone, sends, workflowId }: ForgottenRun): string =>
  [
    wrapDeeper(
      `A run with the id ${workflowId} was there before. Temporal has forgotten it, since its retention is over; the journal has what it sent. Nothing was started.`,
    ),
    columns(
      sends.flatMap(({ amount, begunAt, currency, ids, outcome, step }) => [
        [step, `${OUTCOMES[outcome]}, ${utc(begunAt)}`] as const,
        ...(amount === undefined ? [] : [["", `${amount} ${currency ?? ""}`.trim()] as const]),
        ...fieldRows(ids).map(([name, id]) => ["", `${name} ${id}`] as const),
      ]),
    ),
    wrap(
      isDone
        ? "To do the same once more on purpose, give it another --id."
        : "See at the service what became of it. To do it after all, give it another --id: nothing guards that one against what was sent under this.",
    ),
  ].join("\n");
