import { perRun } from "./per-run.ts";

/** The account that a run is pinned to, as a hash; unknown until a worker has said its own. */
class AccountPin {
  #account: string | undefined;
  #learning: Promise<string> | undefined;
  #onKnown: (account: string) => void = () => undefined;

  get account(): string | undefined {
    return this.#account;
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
