import { readAnswer } from "@durable-payments/activities/answers";

/** Read a settlement, as an execution keeps it: of a few runs alone, so that this file is loaded where there is one. */
export const readSettlement = readAnswer.settlement;
