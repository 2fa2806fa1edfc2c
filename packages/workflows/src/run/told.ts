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

/** What a run is told from outside, and what of it is believed. A signal can carry anything. */
export class Told {
  readonly #waits = new Set<(told: unknown) => boolean>();
  /** Told before the run waited for it. */
  readonly #early: Array<unknown> = [];

  /** Takes what a signal carries. */
  add(told: unknown): void {
    if ([...this.#waits].filter((take) => take(told)).length === 0) this.#early.push(told);
  }

  /**
   * What is told and believed, or what `look` comes to, whichever is first.
   *
   * @param onEnd called as the wait ends, however it does.
   */
  orSeen<A>(
    isBelieved: (told: unknown) => told is A,
    look: () => Promise<A>,
    onEnd: () => void,
  ): Promise<A> {
    return new Promise((resolve, reject) => {
      const ending =
        <B>(settle: (outcome: B) => void) =>
        (outcome: B): void => {
          settle(outcome);
          // The one that comes second ends nothing.
          if (this.#waits.delete(take)) onEnd();
        };
      const take = (content: unknown): boolean => {
        if (!isBelieved(content)) return false;
        ending(resolve)(content);
        return true;
      };
      this.#waits.add(take);
      if (!this.#early.some(take)) look().then(ending(resolve), ending(reject));
    });
  }
}
