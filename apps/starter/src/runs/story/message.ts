import { defaultPayloadConverter } from "@temporalio/common";
import { type Event, timeOf } from "../history-steps.ts";
import { masked } from "./masked.ts";
import type { StoryMessage } from "./story.ts";

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const text = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);

/** The decisions that people take. What other updates carry is not known to be fit to be shown. */
const whatOf = (given: Readonly<Record<string, unknown>>): string | null => {
  const { abandon, amend, approve, found, reject, resend } = given;
  if (isRecord(amend)) return `amend ${Object.keys(amend).join(", ")}`;
  if (isRecord(found)) {
    return `found ${Object.entries(found)
      .map(([name, id]) => `${name} ${text(id)}`)
      .join(", ")}`;
  }
  if (resend === true) return "send it again";
  if (approve === true) return "approved";
  if (abandon !== undefined) return `abandon: ${masked(text(abandon))}`;
  return reject === undefined ? null : `rejected: ${masked(text(reject))}`;
};

/** What a run was told by an update or a signal; undefined where the event is neither. */
export const messageOf = (event: Event): StoryMessage | undefined => {
  const at = timeOf(event);
  const signal = event.workflowExecutionSignaledEventAttributes?.signalName;
  if (signal) return { kind: "signal", name: signal, at, by: null, what: null };
  const input = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input;
  if (!input?.name) return undefined;
  const [payload] = input.args?.payloads ?? [];
  const given: unknown = payload && defaultPayloadConverter.fromPayload(payload);
  const by = isRecord(given) && typeof given["by"] === "string" ? given["by"] : null;
  return {
    kind: "update",
    name: input.name,
    at,
    by,
    what: isRecord(given) ? whatOf(given) : null,
  };
};
