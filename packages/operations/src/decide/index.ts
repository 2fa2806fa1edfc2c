export {
  answer,
  type Answer,
  answerAll,
  type AnswerAll,
  type Approval,
  approve,
  checkAnswer,
  findAlike,
  reject,
} from "./answer.ts";
export { type Choice, CHOICES, consequencesOf } from "./consequences.ts";
export { type Acting, actorOf, type Decided, type Deciding, type Nudged } from "./record.ts";
