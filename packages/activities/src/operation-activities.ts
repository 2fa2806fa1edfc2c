import {
  type Endpoints,
  type Input,
  IsResend,
  type OperationName,
  operationNames,
  type Output,
  type PaymentsClient,
  type PaymentsError,
  type IdempotencyClass,
} from "@durable-payments/api-core";
import { operation } from "@durable-payments/api-core/contract";
import { isRecord, lookUp } from "@durable-payments/api-core/values";
import type { Journal, MadeBySend } from "@durable-payments/journal";
import { sendingUndoneBy, type SentOperation } from "@durable-payments/protocol";
import { Context, type Info } from "@temporalio/activity";
import { Effect } from "effect";
import type { ReadPause } from "./pause.ts";
import type { Approvals } from "./approvals.ts";
import { answerContradicts, needsApproval, toApplicationFailure, workerLost } from "./failures.ts";
import { GuardedSend } from "./guarded-send.ts";
import { type AmountLimits, invalidRequest, overLimit } from "./amount-limits.ts";
import { contradictedField } from "./match-beneficiary.ts";
import type { Payees } from "./payees.ts";
import { recordedSend, textOf } from "./recorded-send.ts";
import { type PaymentsRuntime, runInActivity } from "./run-operation.ts";
import type { ReadEarlierRuns } from "./earlier-runs.ts";
import type { ReadRunState } from "./run-state.ts";
import { type SendIntent, unnamedStep } from "./send-intent.ts";

/** Operations whose sends are recorded in the journal. */
type RecordedOperation = SentOperation | "withdrawFromCard";

/** Of these answers Temporal keeps these fields alone: the others repeat account and card numbers. */
const KEPT = {
  createBeneficiary: ["beneficiary_id", "beneficiary_status"],
  withdrawFromCard: ["card_id", "amount", "unique_request_id"],
} as const satisfies {
  readonly [Name in OperationName]?: ReadonlyArray<keyof Output<Name>>;
};

const keptOf = (name: OperationName, answer: unknown): unknown => {
  const kept = lookUp<ReadonlyArray<string>>(KEPT, name);
  return kept === undefined || !isRecord(answer)
    ? answer
    : Object.fromEntries(Object.entries(answer).filter(([field]) => kept.includes(field)));
};

/** What the activity of an operation returns: its answer, of some without account and card numbers. */
type OperationResult<Name extends keyof Endpoints> = Name extends keyof typeof KEPT
  ? Pick<Output<Name>, Extract<keyof Output<Name>, (typeof KEPT)[Name][number]>>
  : Output<Name>;

/** One activity per operation of the contract, by the operation's own name; plain JSON both ways. */
export type OperationActivities = {
  readonly [Name in keyof Endpoints]: (
    ...given: Name extends RecordedOperation
      ? [input: Input<Name>, intent?: SendIntent]
      : [input: Input<Name>]
  ) => Promise<OperationResult<Name>>;
};

type AnyOperation = (input: unknown) => Effect.Effect<unknown, PaymentsError>;

/**
 * Whether Temporal's own retry would do harm: a second send of these must be decided by the
 * workflow, which remembers what happened to the first.
 */
const isDecidedByWorkflow = (idempotency: IdempotencyClass): boolean =>
  idempotency === "none" || idempotency === "keyed";

const NEVER_RETRIED = new Set<PaymentsError["_tag"]>(["InvalidRequest", "Refused"]);

/**
 * Attempts after which an answer that stays the same ends a change that may be sent twice: an hour,
 * as attempts come. Its run then fails, and says so, instead of trying for a year.
 */
const MOST_ATTEMPTS = 60;

const isAnsweredTheSame = (error: PaymentsError): boolean =>
  error._tag === "UnexpectedAnswer" ||
  (error._tag === "Unavailable" && error.status !== undefined && error.status < 500);

/** Step and number of a send that its workflow does not name. */
const unnamed = (): SendIntent => ({
  step: unnamedStep(Context.current().info.activityId),
  number: 1,
});

/** What a change undoes, if it undoes what its own workflow may have made. */
const madeBefore = (
  name: OperationName,
  input: unknown,
  { workflowExecution }: Pick<Info, "workflowExecution">,
): MadeBySend | undefined => {
  const made = sendingUndoneBy(name);
  const id = made && textOf(input, made.idField);
  return made === undefined || id === undefined || workflowExecution === undefined
    ? undefined
    : { workflowId: workflowExecution.workflowId, operation: made.operation, id };
};

/** Derive the activities from the contract. */
export const makeOperationActivities = (
  runtime: PaymentsRuntime,
  {
    readPause,
    journal,
    maxAmounts,
    approvals,
    payees,
    readRunState,
    readEarlierRuns,
  }: {
    readonly readPause: ReadPause;
    readonly readRunState: ReadRunState;
    readonly readEarlierRuns: ReadEarlierRuns;
    readonly journal: Journal;
    readonly maxAmounts: AmountLimits | undefined;
    readonly approvals: Approvals;
    readonly payees: Payees;
  },
): OperationActivities =>
  Object.fromEntries(
    operationNames.map((name) => {
      const { idempotency } = operation(name);
      const toFailure = (error: PaymentsError) =>
        toApplicationFailure(error, {
          nonRetryable:
            isDecidedByWorkflow(idempotency) ||
            NEVER_RETRIED.has(error._tag) ||
            (idempotency === "idempotent" &&
              Context.current().info.attempt >= MOST_ATTEMPTS &&
              isAnsweredTheSame(error)),
        });
      // Found by one of the contract's names; the input is checked by the call itself.
      const call = (client: PaymentsClient["Service"], input: unknown) =>
        (client[name] as AnyOperation)(input);

      const write = async (input: unknown, intent?: SendIntent) => {
        const { info } = Context.current();
        const isOnce = isDecidedByWorkflow(idempotency);
        const payee = await payees.ofSend(name, input);
        const send = new GuardedSend({
          operation: name,
          readPause,
          readRunState,
          readEarlierRuns,
          knowsEarlierRuns: intent?.knowsEarlierRuns ?? false,
          evenIfCancelled: intent?.evenIfCancelled ?? false,
          journal,
          send: isOnce ? recordedSend(name, input, info, intent ?? unnamed(), payee) : undefined,
          undoes: madeBefore(name, input, info),
        });
        if (isOnce && info.attempt > 1) {
          await send.failIfRecorded();
          throw workerLost(name);
        }
        const faults = overLimit(name, input, maxAmounts);
        if (faults.length > 0) throw toFailure(invalidRequest(name, faults));
        const { workflowId = "" } = info.workflowExecution ?? {};
        const why = await approvals.whyNotSent(name, input, workflowId, intent ?? {});
        if (why !== undefined) throw needsApproval(name, why);
        let failure: PaymentsError | undefined;
        try {
          const answer = await runInActivity(
            runtime,
            (client) =>
              send
                .guard(call(client, input))
                .pipe(
                  Effect.provideService(IsResend, intent?.isResend ?? (intent?.number ?? 1) > 1),
                ),
            (error) => {
              failure = error;
              const isInDoubt = error.carriedOut === "unknown";
              return isInDoubt ? toFailure(error) : (send.blockedBy ?? toFailure(error));
            },
          );
          const field = name === "createBeneficiary" ? contradictedField(input, answer) : undefined;
          if (field !== undefined) {
            throw answerContradicts(name, `its answer shows another ${field} than was sent`);
          }
          const other = await send.succeeded(input, answer);
          if (other !== undefined) {
            const by = other.workflowId === workflowId ? other.step : other.workflowId;
            throw answerContradicts(name, `its answer names what ${by} has made`);
          }
          return keptOf(name, answer);
        } catch (error) {
          await send.failed(failure);
          throw error;
        }
      };

      const read = (input: unknown) =>
        runInActivity(runtime, (client) => call(client, input), toFailure);
      return [name, idempotency === "safe" ? read : write];
    }),
    // One entry per operation, each with the contract's input and output.
  ) as OperationActivities;
