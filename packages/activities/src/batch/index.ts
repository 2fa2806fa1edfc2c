export { makeBatchActivities } from "./start-rows.ts";
