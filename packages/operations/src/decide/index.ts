export { type Acting, actorOf } from "../acting.ts";
export { answer, type Answer, questionsOf } from "./answer.ts";
export { answerAll, type AnswerAll, type AnsweredAll, findAlike } from "./answer-all.ts";
export { approvalsOf, approve, type Approval, reject, whyNotApprover } from "./approve.ts";
export { approvalConsequences, type Choice, CHOICES, consequencesOf } from "./consequences.ts";
export { nudge, type Nudged } from "./nudge.ts";
export type { Decided, Deciding } from "./record.ts";
