import type { FaultKind, FaultOrder, OrderedFault } from "@durable-payments/simulator";
import type { Campaign } from "../campaign.ts";
import { delay } from "../delay.ts";
import { Random } from "../plan/random.ts";
import { ignoreUnavailable, type SimulatorControl } from "../service/service.ts";

type Operation = NonNullable<FaultOrder["operation"]>;

/** The weight of each kind. */
const KINDS: ReadonlyArray<readonly [FaultKind, number]> = [
  ["html-502", 3],
  ["html-502-after", 4],
  ["rate-limited", 3],
  ["refusal-in-200", 2],
  ["truncated", 4],
  ["stalled", 3],
  ["dropped", 5],
  ["dropped-before", 4],
  // Each costs two sign-ins, of which the service allows fifty in a minute.
  ["token-expired", 1],
  ["slow", 3],
];

const REPEATED_KEY_KINDS = [
  "repeated-key-first",
  "repeated-key-empty",
  "repeated-key-refusal",
] as const;

/** Wrong credentials end no run within seconds, and a refused undo is left to a person. */
const NOT_REFUSED: ReadonlySet<string> = new Set(["signIn", "removeCardholder", "cancelCard"]);

const REFUSALS: ReadonlySet<FaultKind> = new Set(["refusal-in-200", "token-expired"]);

/** The probability, by each poll, that a fault is injected for the next request of an operation. */
const OPERATIONS: ReadonlyArray<readonly [Operation, number]> = [
  ["createPayout", 0.35],
  ["createCardholder", 0.3],
  ["createCard", 0.35],
  ["createBeneficiary", 0.2],
  ["updateCard", 0.3],
  ["cancelCard", 0.3],
  ["removeCardholder", 0.3],
  ["listPayouts", 0.1],
  ["retrievePayout", 0.1],
  ["listCardholders", 0.1],
  ["retrieveBalance", 0.1],
  ["signIn", 0.05],
];

/** Faults that lose an answer: the request was carried out, or was not. */
const LOSSES = [
  ["dropped", "stalled", "html-502-after"],
  ["dropped-before", "html-502"],
] as const;

const POLL_EVERY_MS = 250;

const isOfRepeats = ({ kind }: FaultOrder): boolean => kind.startsWith("repeated-key-");

/** Injects faults of requests into the simulator. */
export const makeRequestFaults = (
  control: SimulatorControl,
  { seed, signal, tally }: Pick<Campaign, "seed" | "signal" | "tally">,
) => {
  /** One stream for each operation, so that what one draws does not change the others. */
  const streams = new Map<string, Random>();
  const streamOf = (name: string): Random => {
    const stream = streams.get(name) ?? new Random(seed, `faults/${name}`);
    streams.set(name, stream);
    return stream;
  };
  const order = async (fault: FaultOrder): Promise<void> => {
    await control.inject(fault);
    tally.add(fault.kind);
  };

  /** Chooses faults, one at a time for each operation, so that they strike all through the run. */
  const choose = (faults: ReadonlyArray<OrderedFault>): ReadonlyArray<FaultOrder> => {
    const waiting = faults.filter(({ fired, times = 1 }) => fired < times);
    const chosen = OPERATIONS.flatMap(([operation, probability]): ReadonlyArray<FaultOrder> => {
      const random = streamOf(operation);
      if (!random.chance(probability)) return [];
      if (waiting.some((one) => one.operation === operation && !isOfRepeats(one))) return [];
      const kinds = KINDS.filter(([one]) => !NOT_REFUSED.has(operation) || !REFUSALS.has(one));
      const kind = random.weighted(kinds);
      // The client gives up after two seconds.
      const milliseconds = random.int(300, 3_000);
      return [{ kind, operation, ...(kind === "slow" && { milliseconds }) }];
    });
    if (waiting.some(isOfRepeats)) return chosen;
    const kind = streamOf("repeats").pick(REPEATED_KEY_KINDS);
    return [...chosen, { kind, operation: "createCard", times: 1 }];
  };

  const injectSome = async (isBusy: boolean): Promise<void> => {
    const faults = await control.faults();
    if (isBusy) for (const chosen of choose(faults)) await order(chosen);
    else if (faults.length > 0) await control.clearFaults();
  };

  return {
    /** Loses the answers to the next requests of runs that are alike: of those carried out and those not in turn. */
    loseAnswers: async (operation: Operation, count: number): Promise<void> => {
      const random = streamOf("losses");
      for (let one = random.int(0, 1), left = count; left > 0; one++, left--) {
        const kind = random.pick(LOSSES[one % 2 === 0 ? 0 : 1]);
        await order({ kind, operation }).catch(ignoreUnavailable);
      }
    },
    /** Injects faults until the signal is aborted, while `isBusy`: of few runs, every request would be struck. */
    inject: async (isBusy: () => boolean): Promise<void> => {
      while (!signal.aborted) {
        await injectSome(isBusy()).catch(ignoreUnavailable);
        await delay(POLL_EVERY_MS, signal);
      }
    },
  };
};
