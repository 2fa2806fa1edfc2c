import { isRecord } from "@durable-payments/api-core/values";
import { delay } from "../delay.ts";
import type { SupervisedProcess } from "../environment/supervised-process.ts";
import type { ServiceLedger } from "./service-ledger.ts";
import type { SimulatorControl } from "./simulator-control.ts";

/** Which service a campaign pays by. */
export const SERVICES = ["simulator", "independent"] as const;

/** One of them. */
export type ServiceKind = (typeof SERVICES)[number];

/** What one signs in to the service with. */
export interface Credentials {
  readonly clientId: string;
  readonly apiKey: string;
}

/** The service of a campaign. */
export interface Service {
  readonly url: string;
  readonly credentials: () => Credentials;
  /** How it behaves, for the report. */
  readonly behaviour: Readonly<Record<string, unknown>>;
  /** The workers' `PAYMENTS_ASSUMPTIONS`. */
  readonly assumptions: Readonly<Record<string, unknown>>;
  /** The simulator: a process that is killed, and takes faults of requests. */
  readonly simulator?: {
    readonly process: SupervisedProcess;
    readonly control: SimulatorControl;
  };
  /** How often each fault of its own struck. */
  readonly faults: () => Readonly<Record<string, number>>;
  /**
   * Reads what is true, whatever the service shows.
   *
   * @throws SimulatorUnavailable while it is down.
   */
  readonly ledger: () => Promise<ServiceLedger>;
  readonly end: () => Promise<void>;
}

/** Longer than the outages of a temperament. */
const CREATE_WITHIN_MS = 60_000;

const post = async (url: string, headers: Record<string, string>, body: object) => {
  const answer = await fetch(url, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(5_000),
  });
  const json: unknown = await answer.json();
  if (!isRecord(json) || !isRecord(json["data"])) throw new Error(`${url}: no data`);
  return json["data"];
};

const create = async ({ credentials, url }: Service, fields: object): Promise<string> => {
  const { apiKey, clientId } = credentials();
  const client = { "x-client-id": clientId };
  const signedIn = await post(`${url}/api/v1/auth/signin`, { ...client, "x-api-key": apiKey }, {});
  const token = { "x-auth-token": `Bearer ${String(signedIn["auth_token"])}` };
  const made = await post(`${url}/api/v1/beneficiaries/create`, { ...client, ...token }, fields);
  return String(made["beneficiary_id"]);
};

/**
 * Creates a beneficiary as any client does, as soon as the service answers.
 *
 * @returns its id.
 */
export const createBeneficiary = async (service: Service, fields: object): Promise<string> => {
  const signal = AbortSignal.timeout(CREATE_WITHIN_MS);
  for (;;) {
    try {
      return await create(service, fields);
    } catch (error) {
      if (signal.aborted) throw error;
      await delay(500, signal);
    }
  }
};
