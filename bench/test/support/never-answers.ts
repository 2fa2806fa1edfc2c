import { answerTasks } from "../../src/processes/answer-tasks.ts";

answerTasks(() => new Promise(() => {}));
