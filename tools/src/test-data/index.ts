export { csv, jsonLines, makeRows, type TestRow } from "./batch-files.ts";
export { beneficiary, card, cardholder, options, payout } from "./inputs.ts";
export { anyText, fields, holding, ID, like, listWith, tooWide } from "./matchers.ts";
