/*
 * `startPayment` with `waitFor` sends an update with the start, which every workflow of a worker's bundle answers: the
 * handler exists before the workflow's first line. It is not obvious when an answer may say "refused", because that
 * permits the caller to pay in another way. The failure that ends the run must certainly have had no effect. The run must
 * have left no other payment open, and started no child, whose payments it does not see. The answer of a run that ends is
 * part of the same workflow task. No command is needed: histories stay as they are.
 */
import {
  createdUpdate,
  type EarlyAnswer,
  failureTypes,
  ID_FIELDS,
} from "@durable-payments/protocol/calls";
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  setHandler,
  type WorkflowInterceptors,
} from "@temporalio/workflow";
import { type Early, runState } from "./run.ts";

const NO_EFFECT: ReadonlySet<string> = new Set([
  failureTypes.invalidRequest,
  failureTypes.refused,
  failureTypes.overLimit,
  failureTypes.rejected,
]);

/** Whether a failure says that nothing was made: the caller may pay in another way. */
const hadNoEffect = (error: unknown): error is ApplicationFailure =>
  error instanceof ApplicationFailure && NO_EFFECT.has(error.type ?? "");

/** Changes the answer of a run; what was created stays its answer. */
const answer = (early: Early, next: EarlyAnswer): void => {
  if (early.answer?.is !== "created") early.answer = next;
};

/** A payment of the run needs a second person. */
export const noteApproval = (reason: string): void =>
  answer(runState().early, { is: "needs approval", reason });

/** A write of the run has succeeded. */
export const noteMade = (operation: string, made: Readonly<Record<string, unknown>>): void => {
  const field = ID_FIELDS[operation];
  const id = field === undefined ? undefined : made[field];
  if (typeof id === "string") answer(runState().early, { is: "created", operation, id });
};

/** A write of the run has failed. */
export const noteFailure = (operation: string, error: unknown): void => {
  if (ID_FIELDS[operation] === undefined || hadNoEffect(error)) return;
  const reason = error instanceof Error ? error.message : String(error);
  answer(runState().early, { is: "started", reason });
};

/** @returns interceptors of one run, for the SDK. */
export const interceptors = (): WorkflowInterceptors => {
  /** Set once the run is asked. */
  let early: Early | undefined;
  let hasChild = false;
  const end = (last: EarlyAnswer): void => {
    if (early !== undefined && (early.answer?.is ?? "needs approval") === "needs approval")
      early.answer = last;
  };
  return {
    inbound: [
      {
        execute: (input, next) => {
          setHandler(createdUpdate, async (): Promise<EarlyAnswer> => {
            const asked = (early = runState().early);
            // A cancelled run answers as well: by its end.
            await CancellationScope.nonCancellable(() =>
              condition(() => asked.answer !== undefined),
            );
            return asked.answer ?? { is: "started", reason: "" };
          });
          return next(input).then(
            (result) => {
              const reason =
                "The run has ended, and its own steps created no payout, cardholder or card.";
              end({ is: "started", reason });
              return result;
            },
            (error: unknown) => {
              const reason = error instanceof Error ? error.message : String(error);
              end({ is: hadNoEffect(error) && !hasChild ? "refused" : "started", reason });
              throw error;
            },
          );
        },
      },
    ],
    outbound: [
      {
        startChildWorkflowExecution: (input, next) => {
          hasChild = true;
          return next(input);
        },
      },
    ],
  };
};
