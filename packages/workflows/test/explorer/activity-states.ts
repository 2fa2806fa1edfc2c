import type { PaymentsActivities } from "@durable-payments/activities";
import {
  ActivityExecution,
  type IoAnswer,
  type IoRequest,
  type Attempt,
} from "./activity-execution.ts";
import { type ActivityOutcome, type Chain, Chains, entriesOf } from "./run-history.ts";

/** An attempt of an activity, and the answers that it has received. */
export type AttemptChain = Chain<Attempt, IoAnswer>;

/** The state of an attempt. */
export interface AttemptState {
  readonly request: IoRequest | undefined;
  readonly done: ActivityOutcome | undefined;
}

/** Executions that are kept to be continued. */
const MOST_LIVE = 400;

/** Finds the state of an attempt after its answers, by executing the activity's code. */
export class ActivityStates {
  readonly chains = new Chains<Attempt, IoAnswer>();
  readonly #known = new Map<number, AttemptState>();
  readonly #live = new Map<number, ActivityExecution>();
  readonly #activities: PaymentsActivities;
  executions = 0;

  constructor(activities: PaymentsActivities) {
    this.#activities = activities;
  }

  async of(chain: AttemptChain): Promise<AttemptState> {
    const known = this.#known.get(chain.id);
    if (known !== undefined) return known;
    const { entry, parent } = chain;
    const execution = await this.#executionAt(parent ?? chain);
    if (entry !== undefined) await execution.answer(entry);
    const { request, done } = execution;
    const state = { request: done === undefined ? request : undefined, done };
    this.#known.set(chain.id, state);
    if (done === undefined) this.#live.set(chain.id, execution);
    for (const id of this.#live.keys()) {
      if (this.#live.size <= MOST_LIVE) break;
      this.#live.delete(id);
    }
    return state;
  }

  async #executionAt(chain: AttemptChain): Promise<ActivityExecution> {
    const kept = this.#live.get(chain.id);
    if (kept !== undefined) {
      this.#live.delete(chain.id);
      return kept;
    }
    this.executions += 1;
    const execution = await ActivityExecution.begin(this.#activities, chain.root);
    for (const answered of entriesOf(chain)) await execution.answer(answered);
    return execution;
  }
}
