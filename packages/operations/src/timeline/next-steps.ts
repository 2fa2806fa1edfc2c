import { lookUp } from "@durable-payments/api-core/values";
import { NEEDS_ATTENTION, STEP, textAt, WORKFLOW } from "@durable-payments/protocol";
import type { NextRetry } from "../retry/way.ts";
import type { NextStep, Timeline } from "./timeline.ts";

type Described = Pick<
  Timeline,
  | "askedToEnd"
  | "undoes"
  | "type"
  | "workflowId"
  | "runId"
  | "state"
  | "laterRun"
  | "workerFault"
  | "failure"
  | "inDoubt"
  | "steps"
> & {
  /** How it is retried; null where it cannot be. */
  readonly retry: NextRetry | null;
};

/** Failures that the same input would lead to once more. */
const OF_INPUT: ReadonlySet<string> = new Set(["InvalidRequest", "Refused"]);

/** Failures of a check of the cardholder: corrected at the service, or with another cardholder in its place. */
const OF_CARDHOLDER: ReadonlySet<string> = new Set([
  "VerificationRefused",
  "VerificationIncomplete",
]);

const WAITS_FOR: Readonly<Record<string, string>> = {
  [NEEDS_ATTENTION]: "A person is asked: see the question, and how to answer it",
  [STEP.awaitApproval]: "A second person is asked: see the payment, and how to approve it",
  [STEP.awaitFunds]: "Funds are missing: see how much, and by which account to pay in",
};

const ofOpenRun = ({
  askedToEnd,
  state,
  steps,
  undoes,
  type,
  workerFault,
  workflowId,
}: Described): Array<NextStep> => {
  const step = steps.findLast(({ until }) => until === null);
  const asks = step?.events.at(-1)?.kind === "question";
  const waitsFor = lookUp(WAITS_FOR, asks ? NEEDS_ATTENTION : (step?.name ?? ""));
  return [
    ...(workerFault === null
      ? []
      : [
          {
            why: "The worker's code does not fit this run: find where they part",
            operation: "replay",
            workflowId,
          } as const,
        ]),
    ...(waitsFor === undefined
      ? []
      : [{ why: waitsFor, operation: "describe", workflowId } as const]),
    ...(state === "paused" ? [] : [{ why: "Follow it", operation: "watch", workflowId } as const]),
    ...(state === "paused" && type === WORKFLOW.payoutBatch
      ? [{ why: "Let it start its other rows", operation: "resumeBatch", workflowId } as const]
      : []),
    ...(askedToEnd === null
      ? [
          {
            why: undoes
              ? "End it: it undoes what it has done"
              : "End it: it keeps what it has done",
            operation: "cancel",
            workflowId,
          } as const,
        ]
      : []),
  ];
};

/** A payout that the service has ended: a retry takes up that very payout, and it stays ended. */
export const OF_ENDED_PAYOUT = "PayoutFailed";

/** A step of whose name an earlier run of the id has sent something: it is refused however often it is retried. */
const SENT_BY_EARLIER_RUN = "SentByEarlierRun";

/** What helps a run that would have sent under the step name of an earlier one: to look, and another name. */
const ofNamesake = ({ failure, retry, workflowId }: Described): ReadonlyArray<NextStep> => {
  const runId = textAt(failure?.details, "runId");
  return [
    ...(runId === undefined
      ? []
      : [
          {
            why: "See what the earlier run has sent",
            operation: "timeline",
            workflowId,
            runId,
          } as const,
        ]),
    ...(retry === null
      ? []
      : [
          {
            why: "If it is another payment: go on with a step name of its own, where the input gives it",
            ...retry,
            amend: true,
          } as const,
        ]),
  ];
};

const onFrom = ({ from, overrule }: NextRetry): string => {
  const step = from ?? "the failed step";
  return overrule ? `Overrule who has ended it, and go on from ${step}` : `Go on from ${step}`;
};

/** What is in doubt is settled by a person, or, where the run can be retried, found out by that. */
const settlingOf = ({ inDoubt, retry, workflowId }: Described): Array<NextStep> =>
  inDoubt.length === 0
    ? []
    : [
        {
          why: `The run does not know whether it has paid: see what the journal has, and what may be it, and settle that${retry === null ? "" : ", or go on, which looks first"}`,
          operation: "describe",
          workflowId,
        },
      ];

const ofBrokenRun = (described: Described): Array<NextStep> => {
  const { failure, retry } = described;
  const settling = settlingOf(described);
  if (failure?.type === SENT_BY_EARLIER_RUN) return [...settling, ...ofNamesake(described)];
  if (retry === null) return settling;
  return [
    ...settling,
    {
      why: `See what going on from ${retry.from ?? "the failed step"} would do`,
      ...retry,
      isDryRun: true,
    },
    { why: onFrom(retry), ...retry },
    ...(OF_INPUT.has(failure?.type ?? "")
      ? [{ why: "… with another input", ...retry, amend: true } as const]
      : []),
    ...(OF_CARDHOLDER.has(failure?.type ?? "")
      ? [
          {
            why: 'Go on with other data of the cardholder, "replaced": "remove" or "keep" beside it',
            ...retry,
            from: STEP.createCardholder,
            amend: true,
          } as const,
        ]
      : []),
  ];
};

/** What can be done about a run, the most likely first. */
export const nextSteps = (described: Described): ReadonlyArray<NextStep> => {
  const { laterRun, state, workflowId } = described;
  const audit = { why: "See who or what did what", operation: "audit", workflowId } as const;
  if (laterRun !== null) {
    return [{ why: "A later run of this id went on", operation: "timeline", workflowId }];
  }
  switch (state) {
    case "completed":
    case "continuedAsNew":
      return [...settlingOf(described), audit];
    case "cancelled":
    case "failed":
    case "terminated":
    case "timedOut":
      return [...ofBrokenRun(described), audit];
    default:
      return ofOpenRun(described);
  }
};
