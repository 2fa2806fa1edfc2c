export { amendmentFaults, amendRequest, isInputShaped } from "./amendment.ts";
export {
  type AmendedField,
  type Approval,
  type ApprovalOptions,
  type ApprovalRequest,
  approveUpdate,
  type DescribedPayee,
  type Payee,
} from "./approval.ts";
export { approvalTexts, type ApprovalTexts, NO_STARTER, UNVERIFIED } from "./approval-texts.ts";
export { type AuditEntry, auditQuery } from "./audit.ts";
export {
  cardholderCheckedSignal,
  type CheckedCardholder,
  type CompletionSignals,
  type EndedPayout,
  payoutEndedSignal,
} from "./completion-signals.ts";
export { COMMAND } from "./command.ts";
export {
  answerMeanings,
  approvalConsequences,
  consequencesOf,
  evidenceOf,
  settlementConsequences,
} from "./consequences.ts";
export {
  approveCommands,
  type DecisionCommand,
  resolveCommands,
  settleCommands,
} from "./decision-commands.ts";
export type { Duration, PollInterval } from "./duration.ts";
export {
  type Decision,
  type HumanTask,
  type HumanTaskAction,
  type ListReading,
  type Resolution,
  resolveUpdate,
} from "./human-task.ts";
export type {
  OnboardCardholderInput,
  OnboardCardholderOptions,
  OnboardCardholderResult,
} from "./onboarding.ts";
export {
  type Delivery,
  isNotifierState,
  type Notification,
  type NotificationData,
  type NotificationType,
  notifierId,
  type NotifierState,
  type QueuedNotification,
  testNotificationUpdate,
} from "./notifications.ts";
export { type Pause, PAUSE_DETAILS, PAUSE_TYPE, pauseId, type PauseMemo } from "./pause.ts";
export { intentOf, keyOfStep, questionOf } from "./derived-keys.ts";
export {
  caseless,
  intentMark,
  KEYED_MARK,
  KEY_OF_MARK,
  type NamedId,
  namedIds,
  normalizedKey,
  ownershipKeys,
  plainIds,
} from "./payment-ids.ts";
export { type EndedState, endedStateOf } from "./ended-states.ts";
export { mergePatch, patchedFields } from "./merge-patch.ts";
export {
  isOperationName,
  isOwnSend,
  ownActivityNames,
  type OwnSend,
  ownSendingOf,
} from "./own-operations.ts";
export { ACCOUNT_NAME_RULE, isAccountName } from "./account-name.ts";
export { accountNumbersOf, maskFreeTexts, withoutAccounts } from "./account-numbers.ts";
export {
  AMENDED_MARK,
  amendedPayment,
  type PaymentMemo,
  paymentMemoOf,
  readPaymentMemo,
} from "./payment-memo.ts";
export {
  type BatchCommand,
  type BatchPosition,
  type BatchProgress,
  batchProgressQuery,
  batchId,
  type BatchRow,
  cancelBatchUpdate,
  chunkId,
  type GivenCommand,
  type HandledRows,
  type OverruledBatch,
  pauseBatchUpdate,
  type PayoutBatchInput,
  type PayoutBatchResult,
  resumeBatchUpdate,
  type RunEndings,
} from "./payout-batch.ts";
export {
  COMPLETE_WITHIN,
  isUnfinished,
  type PayoutInput,
  type PayoutOptions,
  type PayoutResult,
} from "./payout.ts";
export type { Sending } from "./sending.ts";
export { reservedBegin } from "./reserved-ids.ts";
export { runDetails, shellBlock } from "./run-details.ts";
export { commandInLines, shellQuoted } from "./shell.ts";
export { isSamePerson, nameProblem, namesSomebody, reasonProblem } from "./person.ts";
export { type Progress, progressQuery, type StepProgress } from "./progress.ts";
export {
  type EndingDecision,
  givenReason,
  instructionIdFor,
  instructionIdOf,
  resetReason,
  type Replacement,
  RETRY_INSTRUCTION_TYPE,
  type RetryInstruction,
  retryInstructionQueue,
  type SentBefore,
} from "./retry-instruction.ts";
export {
  PAYMENT_ACCOUNT,
  PAYMENT_AWAITS,
  PAYMENT_BATCH,
  PAYMENT_CURRENCY,
  PAYMENT_IDS,
  PAYMENT_IN_DOUBT,
  PAYMENT_STAGE,
  type SearchAttribute,
  searchAttributes,
} from "./search-attributes.ts";
export { type Settlement, SETTLEMENT_TYPE, settlementId, settlementQueue } from "./settlement.ts";
export {
  askingStages,
  isAskingStage,
  isStep,
  NEEDS_ATTENTION,
  stagesWithoutSlot,
  undoFailedIn,
  undoFailedStage,
  UNFINISHED,
} from "./stages.ts";
export {
  isStepOf,
  sendingOf,
  sendingReconciledBy,
  sendings,
  sendingUndoneBy,
  type SentOperation,
  STEP,
  type StepKind,
  stepKinds,
  type StepName,
} from "./steps.ts";
export { summaryOfInput } from "./summary.ts";
export {
  baseQueue,
  batchQueue,
  DEFAULT_TASK_QUEUE,
  fallbackPollingQueue,
  serviceQueue,
  taskQueueOf,
} from "./task-queues.ts";
export { absentSoFar, type IfAbsent, withoutResend } from "./absent-so-far.ts";
export { likenessText } from "./found-by-likeness.ts";
export { TRACE_HEADER, traceHeader, traceparentIn } from "./trace-context.ts";
export { utc } from "./utc.ts";
export { asSentence, isNotFound, lastFour, temporalReason, textAt } from "./values.ts";
export { queryText, queryTexts, runsOfIdQuery } from "./visibility-query.ts";
export {
  amendableFields,
  stepThatUses,
  SIGN_IN_LEASE_TYPE,
  signInLeaseId,
  accountOfTracker,
  type TrackedAccount,
  trackerId,
  WORKFLOW,
} from "./workflow-types.ts";
