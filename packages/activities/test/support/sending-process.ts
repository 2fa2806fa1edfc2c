// Sends a payout as its one activity and says what it failed with; ended by its parent.
import { openJournal } from "@durable-payments/journal";
import { activitiesFor, environment, failureOf } from "./activities.ts";
import { payout } from "./bodies.ts";

const [, , url = "", file = ""] = process.argv;
const journal = await openJournal({ _tag: "File", file }, "account-1");
const { activities } = activitiesFor(url, { maxAttempts: 4 }, { journal });
const { type } = await failureOf(
  environment().run(activities.createPayout, payout, { step: "createPayout", number: 1 }),
);
process.send?.(type);
