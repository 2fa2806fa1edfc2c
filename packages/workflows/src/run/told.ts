import type { TrackerSignals } from "@durable-payments/activities";
import { defineSignal } from "@temporalio/workflow";

/** Tells a run that the payout that it waits for has ended. What says otherwise is ignored. */
export const payoutEndedSignal = defineSignal<[TrackerSignals["payoutEnded"]]>(
  "payoutEnded" satisfies keyof TrackerSignals,
);

/** Tells a run that the identity check that it waits for has ended. */
export const cardholderCheckedSignal = defineSignal<[TrackerSignals["cardholderChecked"]]>(
  "cardholderChecked" satisfies keyof TrackerSignals,
);

/** A wait for something that a signal may tell of. */
export interface Wait<A> {
  /** Whether what a signal carries is about what is awaited. It can carry anything. */
  readonly isAbout: (told: unknown) => boolean;
  /** Reads what a signal told of: what it has come to, or undefined while it has not ended. */
  readonly confirm: () => Promise<A | undefined>;
  /** Looks by itself, seldom, until it has ended. */
  readonly look: () => Promise<A>;
  /** Called as the wait ends, however it does. */
  readonly onEnd: () => void;
}

/** What a run is told from outside: a hint to look, and never believed by itself. */
export class Told {
  readonly #waits = new Set<(told: unknown) => boolean>();
  /** Told before the run waited for it. */
  readonly #early: Array<unknown> = [];

  /** Takes what a signal carries. */
  add(told: unknown): void {
    if ([...this.#waits].filter((take) => take(told)).length === 0) this.#early.push(told);
  }

  /** What a signal tells of and a reading confirms, or what `look` comes to, whichever is first. */
  orSeen<A>({ confirm, isAbout, look, onEnd }: Wait<A>): Promise<A> {
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
          // What could not be read is left to the looks.
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
      const begin = (): void => void look().then(ending(resolve), ending(reject));
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
