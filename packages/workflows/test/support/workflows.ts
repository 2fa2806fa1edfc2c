export * from "../../src/definitions/index.ts";
export { payTwoSuppliers } from "../examples/pay-two-suppliers.ts";
export { keysOfSteps } from "./keys-of-steps.ts";
export { payTwiceAlike } from "./pay-twice-alike.ts";
export { createTwoAtOnce } from "./create-two-at-once.ts";
export { payBack } from "./pay-back.ts";
export { payTwoAtOnce } from "./pay-two-at-once.ts";
export { checkTwoAtOnce } from "./check-two-at-once.ts";
export { payAndGoOn } from "./pay-and-go-on.ts";
