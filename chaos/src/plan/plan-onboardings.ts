import { drawAmount, numbered, drawIntervention } from "./draw-details.ts";
import type { Intervention, PlannedOnboarding } from "./planned-run.ts";
import { Random } from "./random.ts";

const POLL = { pollInterval: { min: "1 second", max: "5 seconds" } };

/** What an onboarding is like, by its place: the first ones are such that a short run has all. */
type Shape = "two alike" | "short check" | "short funds" | "refused" | "plain";

const FIRST: readonly Shape[] = ["two alike", "short check", "short funds"];

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

/** The failure by which a shape may end a run. */
const FAILURES: Readonly<Partial<Record<Shape, string>>> = {
  "short check": "VerificationOverdue",
  "short funds": "FundsOverdue",
  refused: "VerificationRefused",
};

const interventionFor = (shape: Shape, amended: string, random: Random, index: number) => {
  const drawn = drawIntervention(random, index);
  if (shape === "plain" || shape === "two alike") return drawn;
  const intervention: Intervention = {
    kind: "retry",
    ...(shape === "short funds" && { amend: { card: { card_limit: amended } } }),
  };
  return shape === "refused" ? undefined : intervention;
};

/** Plan onboardings: see docs/chaos.md. */
export const planOnboardings = (count: number, seed: number): PlannedOnboarding[] => {
  const random = new Random(seed, "onboardings");
  const onboardings: PlannedOnboarding[] = [];
  let groups = 0;
  while (onboardings.length < count) {
    const left = count - onboardings.length;
    const shape = FIRST[groups] ?? random.weighted(SHAPES);
    groups += 1;
    const size = shape === "two alike" ? Math.min(2, left) : 1;
    const startAtMs = random.between(0, 1);
    const last_name = shape === "refused" ? "Refused" : `Example-${numbered(onboardings.length)}`;
    for (let one = 0; one < size; one++) {
      const id = numbered(onboardings.length);
      const email = `person-${id}@example.com`;
      const amount = drawAmount(random);
      const amended = drawAmount(random);
      const card_limit = shape === "short funds" ? TOO_MUCH : amount;
      const intervention = interventionFor(shape, amended, random, onboardings.length);
      const card_name = random.chance(0.3) ? `Card ${id}` : undefined;
      // What was undone cannot be continued, and is not amended.
      const undoes = random.chance(0.5) && shape !== "short funds";
      const withinMs = shape.startsWith("short") ? random.pick(SHORT_MS) : undefined;
      const failure = FAILURES[shape];
      onboardings.push({
        kind: "onboarding",
        workflowId: `chaos-onboarding-${id}`,
        startAtMs,
        alike: size,
        intervention,
        email,
        card_limits: [card_limit, ...(shape === "short funds" ? [amended] : [])],
        card_name,
        undoes,
        mayFailAs: failure === undefined ? [] : [failure],
        withinMs,
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
            ...POLL,
            onRefusal: random.chance(0.5) || intervention?.kind === "abandon" ? "ask" : "fail",
            onFailure: undoes ? "compensate" : "keep",
            ...(shape === "short check" && { verifyWithin: withinMs }),
            ...(shape === "short funds" && { fundWithin: withinMs }),
          },
        },
      });
    }
  }
  return onboardings;
};
