import {
  type AuditEntry,
  PAYMENT_IDS,
  PAYMENT_IN_DOUBT,
  type Progress,
} from "@durable-payments/protocol";
import {
  ApplicationFailure,
  defaultFailureConverter,
  defaultPayloadConverter,
  TypedSearchAttributes,
} from "@temporalio/common";
import { requiredTsToMs } from "@temporalio/common/lib/time.js";
import { setActivator } from "@temporalio/workflow/lib/global-attributes.js";
import { Activator } from "@temporalio/workflow/lib/internals.js";
import { tryUnblockConditions } from "@temporalio/workflow/lib/worker-interface.js";
import type { ActivityOutcome, RunEvent } from "./run-history.ts";
import { idle, setTime } from "./virtual-time.ts";

/** A run of a workflow, as it is to be executed. */
export interface RunToExecute {
  readonly workflowId: string;
  readonly runId: string;
  readonly firstRunId: string;
  readonly startedAt: number;
  /** How many of its events are those of the run that it was reset from. */
  readonly copied: number;
  /** The patches that stand in those. */
  readonly patches: ReadonlyArray<string>;
}

/** A command of a workflow to the server. */
export type Command =
  | {
      readonly kind: "activity";
      readonly seq: number;
      readonly type: string;
      readonly isLocal: boolean;
      readonly args: ReadonlyArray<unknown>;
      readonly startToCloseMs: number;
    }
  | { readonly kind: "cancelActivity"; readonly seq: number }
  | { readonly kind: "timer"; readonly seq: number; readonly afterMs: number }
  | { readonly kind: "cancelTimer"; readonly seq: number }
  | { readonly kind: "patch"; readonly id: string }
  | { readonly kind: "completed" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "failed"; readonly type: string; readonly message: string };

/** What a workflow shows after an activation. */
export interface Shown {
  readonly progress: Progress;
  readonly audit: ReadonlyArray<AuditEntry>;
  /** The search attribute PaymentIds. */
  readonly ids: ReadonlyArray<string>;
  /** The search attribute PaymentInDoubt: names of steps. */
  readonly inDoubt: ReadonlyArray<string>;
}

type SdkCommand = ReturnType<Activator["concludeActivation"]>["commands"][number];

type SdkActivity = NonNullable<
  SdkCommand["scheduleActivity"] | SdkCommand["scheduleLocalActivity"]
>;

const activityOf = (activity: SdkActivity, isLocal: boolean): Command => ({
  kind: "activity",
  seq: activity.seq ?? 0,
  type: activity.activityType ?? "",
  isLocal,
  args: (activity.arguments ?? []).map((arg) => defaultPayloadConverter.fromPayload(arg)),
  startToCloseMs: requiredTsToMs(activity.startToCloseTimeout, "startToCloseTimeout"),
});

const closingOf = (
  failure: NonNullable<SdkCommand["failWorkflowExecution"]>["failure"],
): Command => {
  const error = defaultFailureConverter.failureToError(failure ?? {}, defaultPayloadConverter);
  const type = error instanceof ApplicationFailure ? (error.type ?? "") : error.name;
  return { kind: "failed", type, message: error.message };
};

/** Translate a command of the SDK; none for what only adds to what a run shows. */
const commandOf = (command: SdkCommand): ReadonlyArray<Command> => {
  const {
    cancelTimer,
    cancelWorkflowExecution,
    completeWorkflowExecution,
    failWorkflowExecution,
    requestCancelActivity,
    scheduleActivity,
    scheduleLocalActivity,
    setPatchMarker,
    startTimer,
    updateResponse,
    upsertWorkflowSearchAttributes,
  } = command;
  if (scheduleActivity) return [activityOf(scheduleActivity, false)];
  if (scheduleLocalActivity) return [activityOf(scheduleLocalActivity, true)];
  if (startTimer) {
    const afterMs = requiredTsToMs(startTimer.startToFireTimeout, "startToFireTimeout");
    return [{ kind: "timer", seq: startTimer.seq ?? 0, afterMs }];
  }
  if (cancelTimer) return [{ kind: "cancelTimer", seq: cancelTimer.seq ?? 0 }];
  if (requestCancelActivity)
    return [{ kind: "cancelActivity", seq: requestCancelActivity.seq ?? 0 }];
  if (setPatchMarker) return [{ kind: "patch", id: setPatchMarker.patchId ?? "" }];
  if (completeWorkflowExecution) return [{ kind: "completed" }];
  if (cancelWorkflowExecution) return [{ kind: "cancelled" }];
  if (failWorkflowExecution) return [closingOf(failWorkflowExecution.failure)];
  if (updateResponse?.rejected) throw new Error(`Rejected: ${updateResponse.rejected.message}`);
  if (updateResponse || upsertWorkflowSearchAttributes) return [];
  throw new Error(`The explorer does not know the command ${JSON.stringify(command)}.`);
};

const failureOf = (
  { details, message, nonRetryable, type }: FailedActivity,
  activityType: string,
) => ({
  message: "Activity task failed",
  activityFailureInfo: {
    activityType: { name: activityType },
    activityId: "",
    identity: "",
    retryState: 1,
  },
  cause: defaultFailureConverter.errorToFailure(
    ApplicationFailure.create({ type, message, nonRetryable, details: [...details] }),
    defaultPayloadConverter,
  ),
});

type FailedActivity = Extract<ActivityOutcome, { readonly failure: unknown }>["failure"];

/**
 * A run of a workflow in the SDK's own runtime, without the sandbox: it is given activations, one
 * after the other, and answers commands.
 */
export class WorkflowExecution {
  readonly #run: RunToExecute;
  readonly #activator: Activator;
  readonly #types = new Map<number, string>();
  #activations = 0;

  constructor(run: RunToExecute, workflow: () => Promise<unknown>) {
    this.#run = run;
    // What the constructor takes beyond this is of use to the worker alone.
    this.#activator = new Activator({
      info: {
        workflowId: run.workflowId,
        runId: run.runId,
        firstExecutionRunId: run.firstRunId,
        workflowType: "explored",
        taskQueue: "explored",
        namespace: "explored",
        startTime: new Date(run.startedAt),
        runStartTime: new Date(run.startedAt),
        searchAttributes: {},
        typedSearchAttributes: new TypedSearchAttributes(),
        historyLength: 0,
        historySize: 0,
        continueAsNewSuggested: false,
        unsafe: { isReplaying: false, now: () => Date.now() },
      },
      now: run.startedAt,
      randomnessSeed: [1],
      getTimeOfDay: () => 0n,
      registeredActivityNames: new Set([
        "findForgottenSends",
        "readAccount",
        "readRetryInstruction",
        "recordFound",
      ]),
      stackTracesEnabled: false,
      showStackTraceSources: false,
    } as unknown as ConstructorParameters<typeof Activator>[0]);
    this.#activator.workflow = workflow;
    for (const patchId of run.patches) this.#activator.notifyHasPatch({ patchId });
  }

  /** Gives the workflow one event, and takes what it answers. */
  async activate(event: RunEvent): Promise<ReadonlyArray<Command>> {
    const activator = this.#activator;
    setActivator(activator);
    setTime(event.at);
    activator.now = event.at;
    const isReplaying = this.#activations < this.#run.copied;
    this.#activations += 1;
    activator.mutateWorkflowInfo((info) => ({
      ...info,
      historyLength: this.#activations,
      unsafe: { ...info.unsafe, isReplaying },
    }));
    this.#deliver(event);
    tryUnblockConditions();
    // A condition that is fulfilled lets the workflow continue, which may fulfil another.
    do await idle();
    while (tryUnblockConditions() > 0);
    activator.getAndResetSinkCalls();
    const commands = activator.concludeActivation().commands.flatMap(commandOf);
    for (const command of commands) {
      if (command.kind === "activity") this.#types.set(command.seq, command.type);
    }
    return commands;
  }

  /** What it shows now. */
  get shown(): Shown {
    const { info, queryHandlers } = this.#activator;
    setActivator(this.#activator);
    const ask = (query: string): unknown => queryHandlers.get(query)?.handler();
    const inDoubt = info.typedSearchAttributes.get(PAYMENT_IN_DOUBT);
    return {
      // Its own handlers, with the types of their queries.
      progress: ask("progress") as Progress,
      audit: [...(ask("audit") as ReadonlyArray<AuditEntry>)],
      ids: info.typedSearchAttributes.get(PAYMENT_IDS) ?? [],
      inDoubt: inDoubt?.split(" ") ?? [],
    };
  }

  #deliver(event: RunEvent): void {
    const activator = this.#activator;
    switch (event.kind) {
      case "start":
        return activator.startWorkflow({ arguments: [], headers: {} });
      case "timer":
        return activator.fireTimer({ seq: event.seq });
      case "activity":
        return activator.resolveActivity({
          seq: event.seq,
          result:
            "failure" in event.outcome
              ? {
                  failed: {
                    failure: failureOf(event.outcome.failure, this.#types.get(event.seq) ?? ""),
                  },
                }
              : { completed: { result: defaultPayloadConverter.toPayload(event.outcome.result) } },
        });
      case "resolve":
        return activator.doUpdate({
          id: `update-${this.#activations}`,
          protocolInstanceId: `update-${this.#activations}`,
          name: "resolve",
          input: [defaultPayloadConverter.toPayload(event.resolution)],
          runValidator: true,
        });
      case "cancel":
        return activator.cancelWorkflow({});
      case "reset":
        throw new Error("A reset is no activation.");
    }
  }
}
