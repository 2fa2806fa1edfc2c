import { drawAmount, drawIntervention } from "./draw-details.ts";
import { type Intervention, numbered, type PlannedOnboarding } from "./planned-run.ts";
import { Random } from "./random.ts";

type Shape = "two alike" | "short check" | "short funds" | "refused" | "plain";

const FIRST: ReadonlyArray<Shape> = ["two alike", "short check", "short funds"];

const SHAPES: ReadonlyArray<readonly [Shape, number]> = [
  ["two alike", 6],
  ["short check", 10],
  ["short funds", 6],
  ["refused", 3],
  ["plain", 75],
];

/** More than the balance ever holds. */
const TOO_MUCH = "90000000.00";

const SHORT_MS = [1_000, 2_000, 4_000] as const;

const MAY_FAIL: Readonly<Partial<Record<Shape, ReadonlyArray<string>>>> = {
  "short check": ["NotVerified"],
  "short funds": ["NotFunded"],
  refused: ["NotVerified"],
};

const interventionFor = (
  shape: Shape,
  drawn: Intervention | undefined,
  amended: string,
): Intervention | undefined => {
  if (shape === "plain" || shape === "two alike") return drawn;
  if (shape === "refused") return undefined;
  return {
    kind: "retry",
    ...(shape === "short funds" && { amend: { card: { card_limit: amended } } }),
  };
};

/** Plans onboardings: alike ones, short waits, refused persons, and plain ones. */
export const planOnboardings = (
  count: number,
  seed: number,
  isSimulator: boolean,
): ReadonlyArray<PlannedOnboarding> => {
  const random = new Random(seed, "onboardings");
  const onboardings: Array<PlannedOnboarding> = [];
  let groups = 0;
  while (onboardings.length < count) {
    const drawn = random.weighted(SHAPES);
    const wanted = FIRST[groups] ?? drawn;
    // The independent service finds everybody to be who they say.
    const shape = !isSimulator && wanted === "refused" ? "plain" : wanted;
    groups += 1;
    const size = shape === "two alike" ? Math.min(2, count - onboardings.length) : 1;
    const startAtMs = random.between(0, 1);
    const last_name = shape === "refused" ? "Refused" : `Example-${numbered(onboardings.length)}`;
    for (let one = 0; one < size; one++) {
      const id = numbered(onboardings.length);
      const email = `person-${id}@example.com`;
      const [amount, amended] = [drawAmount(random), drawAmount(random)];
      const isTooMuch = shape === "short funds";
      const card_limit = isTooMuch ? TOO_MUCH : amount;
      const intervention = interventionFor(
        shape,
        drawIntervention(random, onboardings.length),
        amended,
      );
      const card_name = random.chance(0.3) ? `Card ${id}` : undefined;
      const undoes = random.chance(0.5) && !isTooMuch;
      const withinMs = random.pick(SHORT_MS);
      onboardings.push({
        kind: "onboarding",
        workflowId: `chaos-onboarding-${id}`,
        startAtMs,
        alike: size,
        intervention,
        email,
        cardLimits: isTooMuch ? [card_limit, amended] : [card_limit],
        undoes,
        mayFailAs: MAY_FAIL[shape] ?? [],
        input: {
          cardholder: {
            email,
            // People who are refused have one last name: a list distinguishes them by the first.
            first_name: shape === "refused" ? `Ada ${id}` : "Ada",
            last_name,
            // A list does not distinguish people of the same name by their birthdays.
            date_birth: one === 0 ? "1990-04-12" : "1985-01-31",
            phone_number: "+4930123456",
            card_holder_status: 0,
          },
          card: {
            product_code: "prepaid-usd",
            card_limit,
            ...(card_name !== undefined && { card_name }),
          },
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
