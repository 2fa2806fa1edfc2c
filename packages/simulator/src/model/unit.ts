import { Refusal, REFUSAL_CODE } from "@durable-payments/client/contract";
import type { Temperament } from "../http/temperament.ts";
import type { Settings } from "../settings.ts";
import type { Kind, RecordOf } from "./records.ts";

/** The timing of the service, and the form of its reads. */
export type Behaviour = Pick<Settings, "backlog" | "settleAfter" | "verifyAfter"> & Temperament;

/** One unit of work: all of its records are kept, or none if it is refused. */
export interface Unit {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The same as ISO 8601. */
  readonly time: string;
  readonly behaviour: Behaviour;
  readonly get: <K extends Kind>(kind: K, id: string) => RecordOf<K> | undefined;
  /** Oldest first. */
  readonly all: <K extends Kind>(kind: K) => ReadonlyArray<RecordOf<K>>;
  readonly put: <K extends Kind>(kind: K, id: string, record: RecordOf<K>) => void;
}

/** Ends a unit of work: the service refuses, and nothing of the unit is kept. */
export const refuse = (message: string): never => {
  throw new Refusal({ code: REFUSAL_CODE, message });
};
