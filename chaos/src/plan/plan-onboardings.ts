import * as inputs from "@durable-payments/tools/test-data/inputs";
import { drawAmount, drawIntervention } from "./draw-details.ts";
import { ACCOUNTS, type Intervention, numbered, type PlannedRun } from "./planned-run.ts";
import { Random } from "./random.ts";

type Shape = "two alike" | "short check" | "short funds" | "refused" | "plain";

/** With their weights; a short campaign has each of the first three. */
const SHAPES: ReadonlyArray<readonly [Shape, number]> = [
  ["two alike", 6],
  ["short check", 10],
  ["short funds", 6],
  ["plain", 75],
  ["refused", 3],
];

/** More than the balance ever holds. */
const TOO_MUCH = "90000000.00";

const SHORT_MS = [1_000, 2_000, 4_000] as const;

const MAY_FAIL: Readonly<Partial<Record<Shape, ReadonlyArray<string>>>> = {
  "short check": ["NotVerified"],
  "short funds": ["NotFunded"],
  refused: ["NotVerified"],
};

/** Plans onboardings: alike ones, short waits, refused persons, and plain ones. */
export const planOnboardings = (
  count: number,
  seed: number,
  isSimulator: boolean,
): ReadonlyArray<PlannedRun> => {
  const random = new Random(seed, "onboardings");
  const firstAccount = new Random(seed, "accounts of onboardings").int(0, 1);
  const onboardings: Array<PlannedRun> = [];
  for (let group = 0; onboardings.length < count; group++) {
    const drawn = random.weighted(SHAPES);
    const wanted = group < 3 ? (SHAPES[group]?.[0] ?? drawn) : drawn;
    // The independent service finds everybody to be who they say.
    const shape = !isSimulator && wanted === "refused" ? "plain" : wanted;
    const alike = shape === "two alike" ? Math.min(2, count - onboardings.length) : 1;
    const startAtMs = random.between(0, 1);
    const account = ACCOUNTS[(firstAccount + group) % ACCOUNTS.length];
    const isRefused = shape === "refused";
    const isTooMuch = shape === "short funds";
    const last_name = isRefused ? "Refused" : `Example-${numbered(onboardings.length)}`;
    for (let one = 0; one < alike; one++) {
      const id = numbered(onboardings.length);
      const email = `person-${id}@example.com`;
      const [amount, amended] = [drawAmount(random), drawAmount(random)];
      const card_limit = isTooMuch ? TOO_MUCH : amount;
      const interventions: Readonly<Partial<Record<Shape, Intervention | undefined>>> = {
        "short check": { kind: "retry" },
        "short funds": { kind: "retry", amend: { card: { card_limit: amended } } },
        refused: undefined,
      };
      const ofOthers = drawIntervention(random, onboardings.length);
      const undoes = random.chance(0.5) && !isTooMuch;
      const withinMs = random.pick(SHORT_MS);
      onboardings.push({
        kind: "onboardCardholder",
        account,
        workflowId: `chaos-onboarding-${id}`,
        startAtMs,
        alike,
        intervention: shape in interventions ? interventions[shape] : ofOthers,
        makes: [
          { operation: "createCardholder", mark: email, amounts: ["0"], currency: "" },
          {
            operation: "createCard",
            mark: email,
            amounts: isTooMuch ? [card_limit, amended] : [card_limit],
            currency: "USD",
          },
        ],
        undoes,
        mayFailAs: MAY_FAIL[shape] ?? [],
        input: {
          ...(account !== undefined && { account }),
          cardholder: {
            ...inputs.cardholder,
            email,
            // People who are refused have one last name: a list distinguishes them by the first.
            first_name: isRefused ? `Ada ${id}` : "Ada",
            last_name,
            // A list does not distinguish people of the same name by their birthdays.
            date_birth: one === 0 ? "1990-04-12" : "1985-01-31",
          },
          card: { ...inputs.card, card_limit },
          options: {
            onFailure: undoes ? "compensate" : "keep",
            ...(shape === "short check" && { verifyWithin: withinMs }),
            ...(isTooMuch && { fundWithin: withinMs }),
          },
        },
      });
    }
  }
  return onboardings;
};
