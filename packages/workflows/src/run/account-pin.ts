import { PAYMENT_ACCOUNT } from "@durable-payments/protocol";
import { workflowInfo } from "@temporalio/workflow";
import { perRun } from "./scopes.ts";

/**
 * The account that a run is pinned to, as a hash: as who started it has said, or, where nobody has, that
 * of its first worker.
 */
class AccountPin {
  #name: string | undefined;
  #account = workflowInfo().typedSearchAttributes.get(PAYMENT_ACCOUNT);
  #learning: Promise<string> | undefined;
  #onKnown: (account: string) => void = () => undefined;

  /** The name of the account, as the run was given it; undefined for the account without a name. */
  get name(): string | undefined {
    return this.#name;
  }

  /** The run was given the name of an account: what it calls from now on is that account's. */
  nameIs(name: string): void {
    this.#name = name;
  }

  get account(): string | undefined {
    return this.#account;
  }

  /** Whether a worker is being asked for its account. */
  get isLearning(): boolean {
    return this.#account === undefined && this.#learning !== undefined;
  }

  /** Calls back once, when it is known. */
  onKnown(call: (account: string) => void): void {
    this.#onKnown = call;
  }

  /** Pins the run; the first account holds. */
  know(account: string): string {
    if (this.#account === undefined) {
      this.#account = account;
      this.#onKnown(account);
    }
    return this.#account;
  }

  /** Asks once, whoever needs it first. */
  learn(ask: () => Promise<string>): Promise<string> {
    this.#learning ??= ask().then(
      (account) => this.know(account),
      (error: unknown) => {
        this.#learning = undefined;
        throw error;
      },
    );
    return this.#learning;
  }
}

/** The account pin of the workflow that runs now. */
export const accountPin = perRun(() => new AccountPin());
