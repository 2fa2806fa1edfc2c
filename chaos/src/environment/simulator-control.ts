import type { Ledger } from "./simulator-ledger.ts";
import { delay } from "../delay.ts";

/** A fault to inject (packages/simulator/README.md). */
export interface Fault {
  readonly kind: string;
  readonly operation: string;
  readonly times: number;
  readonly milliseconds?: number;
}

/** A fault that was injected since the simulator started, and how often it struck. */
export interface InjectedFault extends Fault {
  readonly fired: number;
}

/** The simulator did not answer: it was killed, and is started again. */
export class SimulatorUnavailable extends Error {
  override readonly name = "SimulatorSilent";
}

interface Credentials {
  readonly clientId: string;
  readonly apiKey: string;
}

const TIMEOUT_MS = 5_000;

/** Longer than the temperament's outages. */
const CREATE_WITHIN_MS = 60_000;

/** The simulator's control endpoints: its ledger, its faults, its funds. */
export class SimulatorControl {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async ledger(): Promise<Ledger> {
    // Written by our own simulator, whose records these types repeat.
    return (await this.#ask("GET", "/_simulator/state")) as Ledger;
  }

  /** Read the ledger as soon as the simulator answers; an empty one where the signal was aborted before. */
  async ledgerOnceAvailable(signal: AbortSignal): Promise<Ledger> {
    while (!signal.aborted) {
      try {
        return await this.ledger();
      } catch (error) {
        if (!(error instanceof SimulatorUnavailable)) throw error;
        await delay(300, signal);
      }
    }
    return { balances: [], beneficiaries: [], payouts: [], cardholders: [], cards: [] };
  }

  async injectedFaults(): Promise<readonly InjectedFault[]> {
    return (await this.#ask("GET", "/_simulator/faults")) as readonly InjectedFault[];
  }

  async clearFaults(): Promise<void> {
    await this.#ask("DELETE", "/_simulator/faults");
  }

  async inject(fault: Fault): Promise<void> {
    await this.#ask("POST", "/_simulator/faults", { body: fault });
  }

  /** Pay an amount into a balance. */
  async fund(currency: string, amount: string): Promise<void> {
    await this.#ask("POST", `/_simulator/balances/${currency}/fund`, { body: { amount } });
  }

  /**
   * Create a beneficiary as any client does, as soon as the service can.
   *
   * @returns its id.
   */
  async createBeneficiary(account: Credentials, fields: object): Promise<string> {
    const signal = AbortSignal.timeout(CREATE_WITHIN_MS);
    for (;;) {
      try {
        return await this.#createBeneficiary(account, fields);
      } catch (error) {
        if (signal.aborted) throw error;
        await delay(500, signal);
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
      throw new SimulatorUnavailable(`The simulator did not answer ${method} ${path}.`, { cause });
    }
    if (status >= 300) {
      throw new Error(`The simulator answered ${method} ${path} with ${status}: ${text}`);
    }
    return text === "" ? undefined : JSON.parse(text);
  }
}
