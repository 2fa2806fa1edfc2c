import { pause } from "../delay.ts";
import { Random } from "../plan/random.ts";
import {
  type FaultOrder,
  type SimulatorControl,
  SimulatorSilent,
  type OrderedFault,
} from "../environment/simulator-control.ts";

/** How often each kind is chosen, beside the others. */
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

/** How likely a fault awaits the next request of an operation, each time that is looked. */
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
export const FAULT_KINDS: readonly string[] = [...Object.keys(KINDS), ...REPEATED_KEY_KINDS];

/** What leaves a run without an answer, though the request was carried out, or was not. */
const LOSSES = [
  ["dropped", "stalled", "html-502-after"],
  ["dropped-before", "html-502"],
] as const;

const LOOK_EVERY_MS = 250;

const chooseKind = (random: Random, operation: string): string => {
  const kinds = Object.entries(KINDS).filter(
    ([kind]) => !NOT_REFUSED.has(operation) || !REFUSALS.has(kind),
  );
  let left = random.next() * kinds.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [kind, weight] of kinds) {
    left -= weight;
    if (left < 0) return kind;
  }
  return "dropped";
};

/** Orders faults as long as the chaos run lasts, and counts those that struck. */
export class Faults {
  readonly #control: SimulatorControl;
  readonly #seed: number;
  readonly #streams = new Map<string, Random>();
  /** Of the simulators that were killed. */
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
   * Takes the answers to the next requests of an operation away, of runs that are alike: of those
   * carried out and those not in turn, which is what could be confused.
   */
  async takeAnswers(operation: string, count: number): Promise<void> {
    const random = this.#stream("losses");
    for (let one = random.int(0, 1), left = count; left > 0; one++, left--) {
      const kind = random.pick(LOSSES[one % 2 === 0 ? 0 : 1]);
      await this.#control.order({ kind, operation, times: 1 }).catch(ignoreSilence);
    }
  }

  /** The simulator that follows, or that has forgotten them, knows no faults. */
  async beforeKill(): Promise<void> {
    await this.#count().catch(ignoreSilence);
    this.#before = new Map(Object.entries(this.fired));
    this.#now = new Map();
  }

  /**
   * Lets faults strike until it is over, while `isBusy`: where few runs are left, each of their
   * requests would be struck.
   */
  async inject(isBusy: () => boolean, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      try {
        const faults = await this.#count();
        if (isBusy()) {
          for (const order of this.#choose(faults)) await this.#control.order(order);
        } else if (faults.length > 0) {
          await this.beforeKill();
          await this.#control.forgetFaults();
        }
      } catch (error) {
        ignoreSilence(error);
      }
      await pause(LOOK_EVERY_MS, over);
    }
    await this.#count().catch(ignoreSilence);
  }

  async #count(): Promise<readonly OrderedFault[]> {
    const faults = await this.#control.faults();
    this.#now = new Map();
    for (const { fired, kind } of faults) this.#now.set(kind, (this.#now.get(kind) ?? 0) + fired);
    return faults;
  }

  /** One at a time awaits each operation, so that they strike all through the run. */
  #choose(faults: readonly OrderedFault[]): readonly FaultOrder[] {
    const waiting = faults.filter(({ fired, times }) => fired < times);
    const orders: FaultOrder[] = [];
    for (const [operation, probability] of Object.entries(OPERATIONS)) {
      const random = this.#stream(operation);
      if (!random.chance(probability)) continue;
      if (waiting.some((one) => one.operation === operation && !isOfRepeats(one))) continue;
      const kind = chooseKind(random, operation);
      orders.push({
        kind,
        operation,
        times: 1,
        // The client gives up after two seconds.
        ...(kind === "slow" && { milliseconds: random.int(300, 3_000) }),
      });
    }
    if (!waiting.some(isOfRepeats)) {
      const kind = this.#stream("repeats").pick(REPEATED_KEY_KINDS);
      orders.push({ kind, operation: "createCard", times: 1 });
    }
    return orders;
  }

  /** One stream for each operation, so that what one draws does not change the others. */
  #stream(name: string): Random {
    const stream = this.#streams.get(name) ?? new Random(this.#seed, `faults/${name}`);
    this.#streams.set(name, stream);
    return stream;
  }
}

const isOfRepeats = ({ kind }: FaultOrder): boolean => kind.startsWith("repeated-key-");

const ignoreSilence = (error: unknown): void => {
  if (!(error instanceof SimulatorSilent)) throw error;
};
