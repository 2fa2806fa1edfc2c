import { test } from "vitest";
import { expectRecovered } from "./support/lost-temporal.ts";

test(
  "Temporal's database is lost with 500 open payouts: by the procedure, each payment is made once",
  () => expectRecovered(500),
  900_000,
);
