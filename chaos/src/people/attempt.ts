import type { Operations } from "@durable-payments/control/connection";
import { isOperationError } from "@durable-payments/control/errors";
import type { Campaign } from "../campaign.ts";

/** Does something that the project may refuse; undefined if it did. */
export const attempt = async <A>(
  { environment, signal }: Campaign,
  act: (operations: Operations) => Promise<A>,
  within = signal,
): Promise<A | undefined> => {
  try {
    return await environment.operate(act, within);
  } catch (error) {
    if (!isOperationError(error)) throw error;
    return undefined;
  }
};
