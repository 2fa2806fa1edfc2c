import type { Connected } from "@durable-payments/control/connection";
import { ControlError } from "@durable-payments/control/errors";
import type { Campaign } from "../campaign.ts";

/** Does something that the project may refuse; undefined if it did. */
export const attempt = async <A>(
  { environment, signal }: Campaign,
  act: (operations: Connected) => Promise<A>,
  within = signal,
): Promise<A | undefined> => {
  try {
    return await environment.operate(act, within);
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    return undefined;
  }
};
