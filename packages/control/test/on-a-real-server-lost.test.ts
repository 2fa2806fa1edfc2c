import { test } from "vitest";
import { expectRecovered } from "./support/lost-temporal.ts";

test(
  "Temporal's database is lost: by the procedure, each payment is made once",
  () => expectRecovered(3),
  240_000,
);
