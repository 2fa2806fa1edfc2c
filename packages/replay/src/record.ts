/*
 * Records what a workflow's code does while it is replayed: its commands, and where it stood.
 *
 * The SDK only says that a history does not match. It does not notice another step in the same activity, which for the
 * ledger is another payment. So an interceptor reports each command with its step and its lines, and the report is
 * compared.
 */
import { defaultPayloadConverter, type Payload } from "@temporalio/common";
import { decode } from "@temporalio/common/lib/encoding.js";

/** A command that the workflow's code gave while it was replayed. */
export interface RecordedCommand {
  /** The id of the activity, if it is one: its event has the same. */
  readonly activityId?: string;
  /** The step that an activity sends, if it sends one. */
  readonly step?: string;
  /** Where the code stood when it gave the command, in lines of its sources. */
  readonly stack: string;
}

/** The commands of one activation, as the recorder reports them. */
export interface Activation {
  /** Stands for the workflow task: several activations may belong to one. */
  readonly task: number;
  readonly commands: ReadonlyArray<RecordedCommand>;
  /** Where the code waits after it: one stack for each promise that it waits for. */
  readonly waitsAt: ReadonlyArray<string>;
}

/** The sink by which the recorder reports it. */
export type RecorderSinks = {
  readonly replayRecorder: { activation(activation: Activation): void };
};

/** Payloads of another converter, or of a codec, are not looked into. */
const PLAIN = "json/plain";

/**
 * Returns the step that an activity sends, by which the ledger knows the payment: its input names it.
 *
 * @returns undefined for an activity that is not a write: most are not.
 */
export const stepOf = (input: ReadonlyArray<Payload> | null | undefined): string | undefined => {
  const [call] = input ?? [];
  const encoding = call?.metadata?.["encoding"];
  if (call === undefined || !encoding || decode(encoding) !== PLAIN) return undefined;
  const value: unknown = defaultPayloadConverter.fromPayload(call);
  if (typeof value !== "object" || value === null) return undefined;
  const step: unknown = Reflect.get(value, "step");
  return typeof step === "string" ? step : undefined;
};
