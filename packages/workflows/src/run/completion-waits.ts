import { CancellationScope } from "@temporalio/workflow";
import type { SearchAttributes } from "./search-attributes.ts";

/** A wait for something whose end a signal announces and the service confirms. */
export interface CompletionWait<A> {
  /** Whether what a signal carries is about what is awaited. It can carry anything. */
  readonly isAbout: (content: unknown) => boolean;
  /** Read what a signal announced: how it has ended, or undefined while it has not. */
  readonly confirm: () => Promise<A | undefined>;
  /** Poll by itself, seldom, until it has ended. */
  readonly poll: () => Promise<A>;
}

/** The waits of a run for completion signals: each is a hint to read, and never believed by itself. */
export class CompletionWaits {
  readonly #waits = new Set<(content: unknown) => boolean>();
  /** Signals that came before the run waited for what they are about. */
  readonly #early: Array<unknown> = [];
  readonly #searchAttributes: SearchAttributes;
  /** Ends the polling of waits that are over. */
  readonly #ended: Array<() => void> = [];

  constructor(searchAttributes: SearchAttributes) {
    this.#searchAttributes = searchAttributes;
  }

  /** Take what a signal carries. */
  onSignal(content: unknown): void {
    if ([...this.#waits].filter((take) => take(content)).length === 0) this.#early.push(content);
  }

  /**
   * Wait for what a signal announces and a reading confirms, or what `poll` sees, whichever is first. The polling
   * is not cancelled before {@link endPolling}, unless another wait is still on: a run that ends with its wait
   * needs no event for that.
   *
   * @param awaited as the tracker is shown it.
   */
  signalOrPoll<A>(awaited: string, { confirm, isAbout, poll }: CompletionWait<A>): Promise<A> {
    const polling = new CancellationScope();
    this.#searchAttributes.awaits(awaited);
    const end = (): void => {
      polling.cancel();
      this.#searchAttributes.awaitsNoMore(awaited);
    };
    return this.#firstOf({
      isAbout,
      confirm: () => polling.run(confirm),
      poll: () => polling.run(poll),
      onEnd: () => {
        if (this.#waits.size > 0) end();
        else this.#ended.push(end);
      },
    });
  }

  /** End the polling of waits that are over, as the next step begins. */
  endPolling(): void {
    for (const end of this.#ended.splice(0)) end();
  }

  #firstOf<A>({
    confirm,
    isAbout,
    onEnd,
    poll,
  }: CompletionWait<A> & { readonly onEnd: () => void }): Promise<A> {
    return new Promise((resolve, reject) => {
      let hints = 0;
      const ending =
        <B>(settle: (outcome: B) => void) =>
        (outcome: B): void => {
          // The one that comes second ends nothing.
          if (!this.#waits.delete(take)) return;
          settle(outcome);
          onEnd();
        };
      /** One reading at a time, and one more where a signal came meanwhile. */
      const confirmHints = async (): Promise<void> => {
        for (let read = 0; read < hints && this.#waits.has(take);) {
          read = hints;
          // What could not be read is left to the polls.
          const seen = await confirm().catch(() => undefined);
          if (seen !== undefined) ending(resolve)(seen);
        }
        hints = 0;
      };
      const take = (content: unknown): boolean => {
        if (!isAbout(content)) return false;
        hints += 1;
        if (hints === 1) void confirmHints();
        return true;
      };
      const begin = (): void => void poll().then(ending(resolve), ending(reject));
      this.#waits.add(take);
      if (this.#early.some(isAbout)) {
        hints = 1;
        void confirmHints().then(() => {
          if (this.#waits.has(take)) begin();
        });
      } else {
        begin();
      }
    });
  }
}
