import { createRequire } from "node:module";
import type { History } from "@temporalio/common/lib/proto-utils.js";
import proto from "@temporalio/proto";

/** What of `protobufjs/ext/protojson` is used here. */
interface ProtoJson {
  readonly fromJson: (
    type: unknown,
    json: unknown,
    options: { readonly ignoreUnknownFields: boolean },
  ) => History;
  readonly toJson: (type: unknown, message: unknown) => unknown;
}

/**
 * protobufjs knows only the types of its own copy, and npm installs several copies of it beside
 * each other: then `historyFromJSON` of `@temporalio/common` fails with "type must be a Type". This
 * is the copy that `@temporalio/proto` made its types with. A `require` is typed as `any`.
 */
const { fromJson, toJson } = createRequire(import.meta.resolve("@temporalio/proto"))(
  "protobufjs/ext/protojson",
) as ProtoJson;

const historyType = proto.temporal.api.history.v1.History;

/** Older tools of Temporal write these without the prefix: `"eventType": "TimerStarted"`. */
const ENUM_PREFIXES: ReadonlyMap<string, string> = new Map([
  ["eventType", "EVENT_TYPE_"],
  ["initiator", "CONTINUE_AS_NEW_INITIATOR_"],
  ["kind", "TASK_QUEUE_KIND_"],
  ["parentClosePolicy", "PARENT_CLOSE_POLICY_"],
  ["retryState", "RETRY_STATE_"],
  ["workflowIdReusePolicy", "WORKFLOW_ID_REUSE_POLICY_"],
]);

const HOLDS_ENUMS = /EventAttributes$|^taskQueue$|^childWorkflowExecutionFailureInfo$/;

const constantCase = (text: string): string =>
  text.replaceAll(/(?!^)(?=[A-Z])/g, "_").toUpperCase();

const withPrefixes = (value: unknown): unknown =>
  typeof value !== "object" || value === null
    ? value
    : Object.fromEntries(
        Object.entries(value).map(([name, field]: [string, unknown]) => {
          if (HOLDS_ENUMS.test(name)) return [name, withPrefixes(field)];
          const prefix = ENUM_PREFIXES.get(name);
          return prefix === undefined || typeof field !== "string" || field.startsWith(prefix)
            ? [name, field]
            : [name, `${prefix}${constantCase(field)}`];
        }),
      );

/**
 * Parse the events of a history in Temporal's JSON. Fields that this version of the SDK does not know
 * are left out.
 *
 * @throws Error of protobufjs; its message ends with the value that it does not accept.
 */
export const parseEvents = (events: ReadonlyArray<unknown>): History =>
  fromJson(historyType, { events: events.map(withPrefixes) }, { ignoreUnknownFields: true });

/**
 * Write a history as Temporal's command line and Web UI write it.
 *
 * @param history as the client's `fetchHistory` returns it.
 * @returns JSON text, which `readRun` reads once it is parsed.
 */
export const writeHistory = (history: History): string =>
  JSON.stringify(toJson(historyType, historyType.fromObject(history)), undefined, 2);
