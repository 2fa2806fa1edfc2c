export { type BatchOptions, makeBatchActivities } from "./start-rows.ts";
