export {
  answer,
  type Answer,
  answerAll,
  type AnswerAll,
  checkAnswer,
  findAlike,
} from "./answer.ts";
export { type Approval, approve, reject } from "./approve.ts";
export { type Choice, CHOICES, consequencesOf } from "../../rules/consequences.ts";
export { type Acting, actorOf, type Decided, type Nudged } from "./record.ts";
