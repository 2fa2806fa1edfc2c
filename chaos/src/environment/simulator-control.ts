import type { Ledger } from "./simulator-ledger.ts";
import { pause } from "../delay.ts";

/** A fault as it is ordered (apps/simulator/README.md). */
export interface FaultOrder {
  readonly kind: string;
  readonly operation: string;
  readonly times: number;
  readonly milliseconds?: number;
}

/** A fault that was ordered since the simulator started, and how often it struck. */
export interface OrderedFault extends FaultOrder {
  readonly fired: number;
}

/** The simulator did not answer: it was killed, and will be back. */
export class SimulatorSilent extends Error {
  override readonly name = "SimulatorSilent";
}

interface Credentials {
  readonly clientId: string;
  readonly apiKey: string;
}

const TIMEOUT_MS = 5_000;

/** Longer than the service is away. */
const CREATE_WITHIN_MS = 60_000;

/** What the chaos run asks of the simulator, behind the back of the service that it plays. */
export class SimulatorControl {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async ledger(): Promise<Ledger> {
    // Written by our own simulator, whose records these types repeat.
    return (await this.#ask("GET", "/_simulator/state")) as Ledger;
  }

  /** The ledger, as soon as the simulator is back; an empty one when it is over before. */
  async ledgerWhenThere(over: AbortSignal): Promise<Ledger> {
    while (!over.aborted) {
      try {
        return await this.ledger();
      } catch (error) {
        if (!(error instanceof SimulatorSilent)) throw error;
        await pause(300, over);
      }
    }
    return { balances: [], beneficiaries: [], payouts: [], cardholders: [], cards: [] };
  }

  async faults(): Promise<readonly OrderedFault[]> {
    return (await this.#ask("GET", "/_simulator/faults")) as readonly OrderedFault[];
  }

  async forgetFaults(): Promise<void> {
    await this.#ask("DELETE", "/_simulator/faults");
  }

  async order(fault: FaultOrder): Promise<void> {
    await this.#ask("POST", "/_simulator/faults", { body: fault });
  }

  /** Pays an amount into a balance. */
  async fund(currency: string, amount: string): Promise<void> {
    await this.#ask("POST", `/_simulator/balances/${currency}/fund`, { body: { amount } });
  }

  /** Creates a beneficiary as any client would, as soon as the service can, and returns its id. */
  async createBeneficiary(account: Credentials, fields: object): Promise<string> {
    const over = AbortSignal.timeout(CREATE_WITHIN_MS);
    for (;;) {
      try {
        return await this.#createBeneficiary(account, fields);
      } catch (error) {
        if (over.aborted) throw error;
        await pause(500, over);
      }
    }
  }

  async #createBeneficiary(account: Credentials, fields: object): Promise<string> {
    const client = { "x-client-id": account.clientId };
    const signedIn = (await this.#ask("POST", "/api/v1/auth/signin", {
      headers: { ...client, "x-api-key": account.apiKey },
    })) as { readonly data: { readonly auth_token: string } };
    const created = (await this.#ask("POST", "/api/v1/beneficiaries/create", {
      headers: { ...client, "x-auth-token": `Bearer ${signedIn.data.auth_token}` },
      body: fields,
    })) as { readonly data: { readonly beneficiary_id: string } };
    return created.data.beneficiary_id;
  }

  async #ask(
    method: "DELETE" | "GET" | "POST",
    path: string,
    { body, headers = {} }: { readonly body?: object; readonly headers?: object } = {},
  ): Promise<unknown> {
    let status: number;
    let text: string;
    try {
      const answer = await fetch(`${this.#url}${path}`, {
        method,
        headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      status = answer.status;
      text = await answer.text();
    } catch (cause) {
      throw new SimulatorSilent(`The simulator did not answer ${method} ${path}.`, { cause });
    }
    if (status >= 300) {
      throw new Error(`The simulator answered ${method} ${path} with ${status}: ${text}`);
    }
    return text === "" ? undefined : JSON.parse(text);
  }
}
