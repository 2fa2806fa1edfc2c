import { describeOutages } from "../support/outages.ts";
import { timeInMemory } from "../support/skipped-time.ts";

describeOutages(timeInMemory);
