import { answerTasks } from "../../src/child.ts";

await answerTasks(() => new Promise(() => {}));
