import { delay } from "../delay.ts";
import { Random } from "../plan/random.ts";
import {
  type Fault,
  type SimulatorControl,
  SimulatorUnavailable,
  type InjectedFault,
} from "../service/simulator-control.ts";

/** The weight of each kind. */
const KINDS: Readonly<Record<string, number>> = {
  "html-502": 3,
  "html-502-after": 4,
  "rate-limited": 3,
  "refusal-in-200": 2,
  truncated: 4,
  stalled: 3,
  dropped: 5,
  "dropped-before": 4,
  // Each costs two sign-ins, of which the service allows fifty in a minute.
  "token-expired": 1,
  slow: 3,
};

const REPEATED_KEY_KINDS = [
  "repeated-key-first",
  "repeated-key-empty",
  "repeated-key-refusal",
] as const;

/** Operations that are not refused. */
const NOT_REFUSED = new Set([
  // Wrong credentials, which no run recovers from within seconds.
  "signIn",
  // What a run does in order to undo; one that is refused is left to a person.
  "removeCardholder",
  "cancelCard",
]);

const REFUSALS = new Set(["refusal-in-200", "token-expired"]);

/** The probability that a fault is injected for the next request of an operation, by each poll. */
const OPERATIONS = {
  createPayout: 0.35,
  createCardholder: 0.3,
  createCard: 0.35,
  createBeneficiary: 0.2,
  updateCard: 0.3,
  cancelCard: 0.3,
  removeCardholder: 0.3,
  listPayouts: 0.1,
  retrievePayout: 0.1,
  listCardholders: 0.1,
  retrieveBalance: 0.1,
  signIn: 0.05,
} as const;

/** Every kind of fault that a chaos run injects: all that the simulator has. */
const FAULT_KINDS: readonly string[] = [...Object.keys(KINDS), ...REPEATED_KEY_KINDS];

/** Faults that lose an answer: the request was carried out, or was not. */
const LOSSES = [
  ["dropped", "stalled", "html-502-after"],
  ["dropped-before", "html-502"],
] as const;

const POLL_EVERY_MS = 250;

const chooseKind = (random: Random, operation: string): string => {
  const kinds = Object.entries(KINDS).filter(
    ([kind]) => !NOT_REFUSED.has(operation) || !REFUSALS.has(kind),
  );
  return random.weighted(kinds);
};

/** Injects faults of requests into the simulator, and counts those that struck. */
export class RequestFaults {
  readonly #control: SimulatorControl;
  readonly #seed: number;
  readonly #streams = new Map<string, Random>();
  /** What struck in simulators that were killed, or have forgotten it. */
  #before = new Map<string, number>();
  #now = new Map<string, number>();

  constructor(control: SimulatorControl, seed: number) {
    this.#control = control;
    this.#seed = seed;
  }

  /** How often each kind struck; what struck in the second before a kill may be missing. */
  get fired(): Readonly<Record<string, number>> {
    return Object.fromEntries(
      FAULT_KINDS.map((kind) => [kind, (this.#before.get(kind) ?? 0) + (this.#now.get(kind) ?? 0)]),
    );
  }

  /**
   * Lose the answers to the next requests of an operation, of runs that are alike: of those carried out
   * and those not in turn, which is what could be confused.
   */
  async loseAnswers(operation: string, count: number): Promise<void> {
    const random = this.#stream("losses");
    for (let one = random.int(0, 1), left = count; left > 0; one++, left--) {
      const kind = random.pick(LOSSES[one % 2 === 0 ? 0 : 1]);
      await this.#control.inject({ kind, operation, times: 1 }).catch(ignoreUnavailable);
    }
  }

  /** Keep the counts before the simulator loses them. */
  async keepCounts(): Promise<void> {
    await this.#count().catch(ignoreUnavailable);
    this.#before = new Map(Object.entries(this.fired));
    this.#now = new Map();
  }

  /**
   * Inject faults until the signal is aborted, while `isBusy`: where few runs are left, each of their
   * requests would be struck.
   */
  async inject(isBusy: () => boolean, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const faults = await this.#count();
        if (isBusy()) {
          for (const inject of this.#choose(faults)) await this.#control.inject(inject);
        } else if (faults.length > 0) {
          await this.keepCounts();
          await this.#control.clearFaults();
        }
      } catch (error) {
        ignoreUnavailable(error);
      }
      await delay(POLL_EVERY_MS, signal);
    }
    await this.#count().catch(ignoreUnavailable);
  }

  async #count(): Promise<readonly InjectedFault[]> {
    const faults = await this.#control.injectedFaults();
    this.#now = new Map();
    for (const { fired, kind } of faults) this.#now.set(kind, (this.#now.get(kind) ?? 0) + fired);
    return faults;
  }

  /** Choose faults, one at a time for each operation, so that they strike all through the run. */
  #choose(faults: readonly InjectedFault[]): readonly Fault[] {
    const waiting = faults.filter(({ fired, times }) => fired < times);
    const chosen: Fault[] = [];
    for (const [operation, probability] of Object.entries(OPERATIONS)) {
      const random = this.#stream(operation);
      if (!random.chance(probability)) continue;
      if (waiting.some((one) => one.operation === operation && !isOfRepeats(one))) continue;
      const kind = chooseKind(random, operation);
      chosen.push({
        kind,
        operation,
        times: 1,
        // The client gives up after two seconds.
        ...(kind === "slow" && { milliseconds: random.int(300, 3_000) }),
      });
    }
    if (!waiting.some(isOfRepeats)) {
      const kind = this.#stream("repeats").pick(REPEATED_KEY_KINDS);
      chosen.push({ kind, operation: "createCard", times: 1 });
    }
    return chosen;
  }

  /** One stream for each operation, so that what one draws does not change the others. */
  #stream(name: string): Random {
    const stream = this.#streams.get(name) ?? new Random(this.#seed, `faults/${name}`);
    this.#streams.set(name, stream);
    return stream;
  }
}

const isOfRepeats = ({ kind }: Fault): boolean => kind.startsWith("repeated-key-");

const ignoreUnavailable = (error: unknown): void => {
  if (!(error instanceof SimulatorUnavailable)) throw error;
};
