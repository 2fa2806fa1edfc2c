import { isRecord } from "@durable-payments/api-core/values";
import {
  asSentence,
  PAYMENT_IDS,
  PAYMENT_IN_DOUBT,
  sendingOf,
  textAt,
} from "@durable-payments/protocol";
import type { WorkflowExecutionInfo } from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";
import { readCancelRequest, withCancelRequest } from "../history/cancel-request.ts";
import type { DoubtedStep } from "../history/doubted-step.ts";
import type { Failure } from "../history/failure.ts";
import { readSettledDoubts, type SettledDoubt, unsettledSteps } from "../history/in-doubt.ts";
import { orNull } from "./or-null.ts";
import { readPayment } from "./payment.ts";

type EndedRun = Pick<
  WorkflowExecutionInfo,
  "closeTime" | "memo" | "runId" | "status" | "type" | "typedSearchAttributes" | "workflowId"
>;

/** Failures that a run does not write itself: they say nothing of what it has sent. */
const FROM_OUTSIDE: ReadonlySet<string> = new Set(["Cancelled", "Terminated", "TimedOut"]);

/** The payout that a run owned at last; empty where it owned none. */
const madePayout = ({ typedSearchAttributes }: EndedRun): string => {
  const claim = (typedSearchAttributes.get(PAYMENT_IDS) ?? []).find((id) =>
    id.startsWith("payout:"),
  );
  return claim?.slice("payout:".length) ?? "";
};

/** The steps of a run that did not end by itself of which nobody knows whether they were carried out. */
const doubtsOf = async (temporal: Temporal, run: EndedRun): Promise<ReadonlyArray<DoubtedStep>> => {
  const { runId, status, typedSearchAttributes, workflowId } = run;
  const isNamed = (typedSearchAttributes.get(PAYMENT_IN_DOUBT) ?? "") !== "";
  // One that a reset made, and did not end by itself, may name less than it has sent.
  if (!isNamed && status.name !== "TERMINATED" && status.name !== "TIMED_OUT") return [];
  const described = await temporal.client.workflow.getHandle(workflowId, runId).describe();
  return unsettledSteps(temporal, described);
};

const doubtText = ({ amount, currency = "", ids, operation, step }: DoubtedStep): string => {
  const what = `${step}${amount === undefined ? "" : ` of ${amount} ${currency}`.trimEnd()}`;
  if (ids !== undefined) {
    const made = Object.entries(ids).map(([name, id]) => `${name} ${id}`);
    return `${what} was carried out: ${made.join(", ")}.`;
  }
  return sendingOf(operation)?.makes === "payout"
    ? `It may have been paid: the run does not know whether ${what} was carried out.`
    : `The run does not know whether ${what} was carried out.`;
};

const settledText = ({ by, found, step }: SettledDoubt): string =>
  `${by} found that ${step} was ${found === null ? "not " : ""}carried out.`;

/** The failure of a run, with what is known beside of what it has sent. */
export interface ExplainedFailure {
  readonly failure: Failure;
  /** Nobody knows whether they were carried out. */
  readonly inDoubt: ReadonlyArray<DoubtedStep>;
}

const readDoubts = async (temporal: Temporal, run: EndedRun) => {
  const [inDoubt, settled] = await Promise.all([
    doubtsOf(temporal, run),
    readSettledDoubts(temporal, run),
  ]);
  return { inDoubt, settled };
};

/** Several sentences in one line; one alone stays as it is. */
const sentences = (parts: ReadonlyArray<string>): string =>
  parts.length === 1 ? parts.join() : parts.map(asSentence).join(" ");

/**
 * Explain why a run ended: who cancelled it, which payout it had made, which stands whatever ended the run, what
 * nobody knows of, and what people have found out since.
 *
 * @param failure that it ended with, or as Temporal has it.
 * @returns the failure with that in its message, and the payout among its details.
 */
export const explainFailure = async (
  temporal: Temporal,
  run: EndedRun,
  failure: Failure,
): Promise<ExplainedFailure> => {
  const request =
    failure.type === "Cancelled" ? await orNull(readCancelRequest(temporal, run)) : undefined;
  const asked = withCancelRequest(failure, request ?? undefined);
  const isFromOutside = FROM_OUTSIDE.has(failure.type);
  const created = textAt(failure.details, "payout_id") === undefined ? madePayout(run) : "";
  const doubts = await orNull(readDoubts(temporal, run));
  const { inDoubt, settled } = doubts ?? { inDoubt: [], settled: [] };
  const payment = created === "" ? null : await orNull(readPayment(temporal, run));
  const amount = payment === null ? "" : ` of ${payment.amount} ${payment.currency}`;
  const found = [
    created,
    ...inDoubt.map(({ ids }) => ids?.["payout_id"] ?? ""),
    ...settled.map((one) => textAt(one.found, "payout_id") ?? ""),
  ].find((id) => id !== "");
  return {
    failure: {
      ...asked,
      message: sentences([
        asked.message,
        ...(created === ""
          ? []
          : [
              `The payout ${created}${amount} had been made${isFromOutside ? ", and stands" : ""}.`,
            ]),
        ...settled.map(settledText),
        ...(isFromOutside ? inDoubt.map(doubtText) : []),
        ...(isFromOutside && doubts === null ? ["What it has sent cannot be read."] : []),
      ]),
      ...(found !== undefined && {
        details: { ...(isRecord(asked.details) ? asked.details : {}), payout_id: found },
      }),
    },
    inDoubt,
  };
};
