import { CancellationScope } from "@temporalio/workflow";

/** The account that a run is pinned to, as a hash; unknown until a worker has said its own. */
export class AccountPin {
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

/**
 * By the outermost scope of each workflow: modules are loaded once for all the workflows of a
 * worker's thread, and share their variables.
 */
const pins = new WeakMap<CancellationScope, AccountPin>();

/** The account pin of the workflow that runs now. */
export const accountPin = (): AccountPin => {
  let scope = CancellationScope.current();
  while (scope.parent !== undefined) scope = scope.parent;
  const known = pins.get(scope);
  if (known !== undefined) return known;
  const pin = new AccountPin();
  pins.set(scope, pin);
  return pin;
};
