import { isRecord } from "@durable-payments/api-core/values";

/** Whether a run was started to undo what it has done, where it is asked to end or fails. */
export const undoesAtEnd = (startedWith: unknown): boolean => {
  const options = isRecord(startedWith) ? startedWith["options"] : undefined;
  return isRecord(options) && options["onFailure"] === "compensate";
};
