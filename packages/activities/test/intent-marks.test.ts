import { intentMark, PAYMENT_IDS } from "@durable-payments/protocol";
import type { Client } from "@temporalio/client";
import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { IntentMarks } from "../src/intent-marks.ts";
import { intentOfCardholder } from "../src/match-rows.ts";
import { findRunsKeyedAlike } from "../src/owners.ts";
import { activitiesFor, environment, run } from "./support/activities.ts";
import { cardholder } from "./support/bodies.ts";

const [first, second] = [randomBytes(32), randomBytes(32)];
const ada = { first_name: "Ada", last_name: "Lovelace" };
const grace = { first_name: "Grace", last_name: "Hopper" };

const plainOf = (cardholder: typeof ada) => intentMark(intentOfCardholder(cardholder));

/** What a worker with these secrets has a run write in its PaymentIds. */
const written = (cardholder: typeof ada, ...secrets: ReadonlyArray<Uint8Array>) => {
  const mark = plainOf(cardholder);
  return new IntentMarks(() => secrets).keyed(mark) ?? [mark];
};

/** Who creates the same, as a worker with these secrets sees it, of runs with these PaymentIds. */
const found = (
  runs: Readonly<Record<string, ReadonlyArray<string>>>,
  ...secrets: ReadonlyArray<Uint8Array>
) => {
  async function* list({ query }: { readonly query: string }) {
    for (const [workflowId, ids] of Object.entries(runs)) {
      if (!ids.some((id) => query === `${PAYMENT_IDS.name} = "${id}"`)) continue;
      yield { workflowId, typedSearchAttributes: { get: () => ids } };
    }
  }
  // Of a client, only its list is asked for.
  const withAbortSignal = <A>(_: AbortSignal, work: () => Promise<A>) => work();
  const client = { workflow: { list }, withAbortSignal } as unknown as Client;
  const marks = new IntentMarks(() => secrets);
  const alike = () => findRunsKeyedAlike(plainOf(ada), marks);
  return environment({}, { client }).run(async () => (await alike()).toSorted());
};

const runs = {
  before: written(ada),
  "before, another": written(grace),
  old: written(ada, first),
  "old, another": written(grace, first),
  now: written(ada, second, first),
  "now, another": written(grace, second, first),
};

it("requests are checked with the marks of the cardholders among them", async () => {
  const { activities, close } = activitiesFor(
    "http://127.0.0.1:9",
    {},
    { signingSecrets: () => [first] },
  );
  const planned = [{ operation: "createCardholder", input: cardholder, at: "cardholder" } as const];
  expect(await run(activities.checkRequests, planned)).toMatchObject({
    marks: { [plainOf(cardholder)]: written(cardholder, first) },
  });
  await close();
});

it("a mark made with a secret has nothing of the plain one", () => {
  const keyed = written(ada, first);
  expect(keyed).toHaveLength(3);
  expect(keyed).not.toContain(plainOf(ada));
  expect(written(grace, first).at(-1)).not.toBe(keyed.at(-1));
  expect(written(ada, second).at(-1)).not.toBe(keyed.at(-1));
});

it("runs that create the same are found, whichever secret has marked them, or none", async () => {
  expect(await found(runs, second, first)).toEqual(["before", "now", "old"]);
  expect(await found(runs, first, second)).toEqual(["before", "now", "old"]);
});

it("a run counts as one that creates the same where its secret is not here", async () => {
  expect(await found(runs, second)).toEqual(["before", "now", "old", "old, another"]);
  expect(await found(runs)).toEqual(["before", "now", "now, another", "old", "old, another"]);
});
