import { answerTasks } from "../../src/child.ts";

answerTasks(() => new Promise(() => {}));
