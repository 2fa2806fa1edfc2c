import { Refusal, REFUSAL_CODE } from "@durable-payments/client/contract";
import type { Temperament } from "../http/temperament.ts";
import type { Backlog } from "./backlog.ts";
import type { Kind, RecordOf } from "./records.ts";

/** The timing of the service, and the form of its reads; times in milliseconds. */
export interface Behaviour {
  /** How long a payout is processing; undefined: until it is given a status. */
  readonly settleAfter: number | undefined;
  /** The share of payouts that come back, how long after they have completed, and with which status. */
  readonly returns: NonNullable<Temperament["returns"]>;
  /** How long an identity check is pending; undefined: until it is given an outcome. */
  readonly verifyAfter: number | undefined;
  /** For how long lists do not show a new row. */
  readonly listLagMs: number;
  /** Whether a payout shows the caller's key, one of the service's own, or none. */
  readonly payoutKeys: NonNullable<Temperament["payoutKeys"]>;
  /** Payouts from before the service's records. */
  readonly backlog: Backlog | undefined;
}

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
