export { type Acting, actorOf } from "../acting.ts";
export {
  answer,
  type Answer,
  answerAll,
  type AnswerAll,
  checkAnswer,
  findAlike,
} from "./answer.ts";
export { approve, type Approval, reject } from "./answer.ts";
export { type Choice, CHOICES, consequencesOf } from "./consequences.ts";
export type { Nudged } from "./record.ts";
export type { Decided, Deciding } from "./record.ts";
