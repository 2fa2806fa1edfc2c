import type { ServiceLedger } from "./service-ledger.ts";

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
  override readonly name = "SimulatorUnavailable";
}

const TIMEOUT_MS = 5_000;

/** The simulator's control endpoints: its ledger, its faults, its funds. */
export class SimulatorControl {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async ledger(): Promise<ServiceLedger> {
    // Written by our own simulator, whose records these types repeat.
    return (await this.#ask("GET", "/_simulator/state")) as ServiceLedger;
  }

  async injectedFaults(): Promise<readonly InjectedFault[]> {
    return (await this.#ask("GET", "/_simulator/faults")) as readonly InjectedFault[];
  }

  async clearFaults(): Promise<void> {
    await this.#ask("DELETE", "/_simulator/faults");
  }

  async inject(fault: Fault): Promise<void> {
    await this.#ask("POST", "/_simulator/faults", fault);
  }

  /** Pay an amount into a balance. */
  async fund(currency: string, amount: string): Promise<void> {
    await this.#ask("POST", `/_simulator/balances/${currency}/fund`, { amount });
  }

  async #ask(method: "DELETE" | "GET" | "POST", path: string, body?: object): Promise<unknown> {
    let status: number;
    let text: string;
    try {
      const answer = await fetch(`${this.#url}${path}`, {
        method,
        ...(body !== undefined && { headers: { "content-type": "application/json" } }),
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
