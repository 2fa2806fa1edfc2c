import { Refusal, REFUSAL_CODE } from "@durable-payments/api-core/contract";

/** Ends a unit of work: the service says no, and nothing of the unit is kept. */
export const refuse = (message: string): never => {
  throw new Refusal({ code: REFUSAL_CODE, message });
};
