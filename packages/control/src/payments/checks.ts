/*
 * Checks the options of what a program does with payments, before anything is done.
 *
 * A misspelt option that is not refused counts as left out: without `isDryRun` it pays, without an id it pauses everything,
 * and a limit stays as it was. TypeScript finds that in an object literal alone, and nothing of what came over HTTP. So an
 * unknown option is refused, as an unknown field of a filter is. The actions check names, reasons, keys, amounts and hashes.
 */
import { copyOf } from "@durable-payments/client/values";
import type { CancelOptions } from "../actions/stopping.ts";
import type { Answer } from "../actions/decide/answer.ts";
import type { Approval } from "../actions/decide/approve.ts";
import type { Acting } from "../actions/decide/record.ts";
import type { PruneOptions } from "../actions/prune.ts";
import type { RecoverOptions } from "../actions/recovery.ts";
import type { RepairOptions } from "../actions/retry/repair.ts";
import type { ReplaySelection } from "../actions/replay.ts";
import type { PreviewOptions } from "../actions/preview/preview.ts";
import type {
  CheckFileOptions,
  FollowOptions,
  LimitsGiven,
  PauseGiven,
  RetryGiven,
  StartFileOptions,
  StartGiven,
  StartWorkflow,
  WordGiven,
} from "./options.ts";
import type { Workflow } from "@temporalio/client";
import type { ListFilter } from "../views/list.ts";
import {
  type Check,
  check,
  checkText,
  isAny,
  isFlag,
  isList,
  isSignal,
  isText,
  oneOf,
} from "../rules/filter.ts";

/** A check of each option. */
type Checks<Options> = { readonly [Name in keyof Required<Options>]: Check };

const isDate: Check = (value) =>
  value instanceof Date && !Number.isNaN(value.getTime()) ? undefined : "must be a valid Date";

const ACTING: Checks<Acting> = { by: isAny, how: isText, reason: isAny };

const { reason: _, ...STARTING } = ACTING;

const START: Checks<StartGiven> = {
  ...STARTING,
  key: isAny,
  id: isText,
  notDuplicate: isAny,
  isDryRun: isFlag,
};

const OWN: Checks<StartWorkflow<Workflow>> = {
  ...STARTING,
  account: isText,
  args: isList,
  key: isAny,
  memo: isAny,
  notDuplicate: isAny,
  priority: isAny,
  retry: isAny,
  startDelay: isAny,
  taskQueue: isText,
  typedSearchAttributes: isAny,
  workflowExecutionTimeout: isAny,
  workflowRunTimeout: isAny,
  workflowTaskTimeout: isAny,
};

const SELECTION: Checks<ReplaySelection> = {
  workflowId: isText,
  isOpen: isFlag,
  isFailed: isFlag,
  since: isAny,
  type: isText,
};

const FOLLOW: Checks<FollowOptions> = { signal: isSignal };

const FILE: Checks<Omit<StartFileOptions, "batch">> = {
  ...ACTING,
  approveAbove: isAny,
  window: isAny,
  notDuplicate: isAny,
  onPart: isAny,
};

const REPAIR: Checks<RepairOptions> = {
  ...ACTING,
  from: isText,
  amend: isAny,
  amendEach: isAny,
  approveAbove: isAny,
  notDuplicate: isAny,
  rate: isAny,
  window: isAny,
};

const CANCEL: Checks<CancelOptions> = { ...ACTING, isForced: isFlag };
const PAUSE: Checks<PauseGiven> = { ...ACTING, id: isText };
const REJECT: Checks<Omit<Approval, "hash">> = { ...ACTING, question: isText };

const ANSWER: Checks<Omit<Answer, "found" | "question">> = { ...ACTING, choose: isAny };

/** The options of each action. */
const OPTIONS = {
  pay: START,
  onboard: START,
  start: OWN,
  checkFile: {
    ...FILE,
    type: oneOf(["payout", "onboardCardholder"]),
  } satisfies Checks<CheckFileOptions>,
  payFile: { ...FILE, batch: isText } satisfies Checks<StartFileOptions>,
  answer: { ...ANSWER, question: isAny, found: isText } satisfies Checks<Answer>,
  answerAll: ANSWER,
  approve: { ...REJECT, hash: isAny } satisfies Checks<Approval>,
  reject: REJECT,
  retry: {
    ...ACTING,
    amend: isAny,
    isRestarted: isFlag,
    from: isText,
    notDuplicate: isAny,
    isOverruling: isFlag,
    ifRun: isText,
    isDryRun: isFlag,
  } satisfies Checks<RetryGiven>,
  planRepair: REPAIR,
  repair: { ...REPAIR, content: isText },
  cancel: CANCEL,
  cancelBatch: { ...CANCEL, isStarted: isFlag },
  pause: PAUSE,
  resume: PAUSE,
  setLimits: {
    ...ACTING,
    account: isText,
    maxAmounts: isAny,
    approveAbove: isAny,
  } satisfies Checks<LimitsGiven>,
  word: {
    ...ACTING,
    account: isText,
    word: isText,
    means: oneOf(["completed", "failed", "returned", "open"]),
  } satisfies Checks<WordGiven>,
  duplicates: { account: isText, batch: isText } satisfies Checks<
    Pick<ListFilter, "account" | "batch">
  >,
  log: { isVerified: isFlag },
  follow: FOLLOW,
  followBatch: FOLLOW,
  batch: { isWhole: isFlag },
  replay: { ...SELECTION, workflows: isText, onPart: isAny },
  previewRetries: { against: isText, onPart: isAny } satisfies Checks<PreviewOptions>,
  recover: {
    ...ACTING,
    since: isDate,
    isDryRun: isFlag,
    onPart: isAny,
  } satisfies Checks<RecoverOptions>,
  prune: {
    ...ACTING,
    before: isAny,
    onPart: isAny,
  } satisfies Checks<Omit<PruneOptions, "keepDays">>,
} as const;

/** An action whose options are checked. */
export type Action = keyof typeof OPTIONS;

/** Checks the options of what is done with an id, and the id. @throws InvalidInput as `checkOptions`. */
export const checkCall = <Given>(action: Action, id: unknown, given: Given): Given => {
  checkText("id", id);
  return checkOptions(action, given);
};

/**
 * Checks the options of an action.
 *
 * @returns a copy, which the program cannot change while the action is under way.
 * @throws InvalidInput that names each unknown option, and each flag, text or date that is wrong.
 */
export const checkOptions = <Given>(action: Action, given: Given): Given => {
  check(`options object of ${action}`, OPTIONS[action], given, "Nothing was done.");
  return copyOf(given);
};
