import { sleep } from "@temporalio/workflow";

export * from "./workflows.ts";

/** The next release, by mistake: it reserves nothing. */
export const waitThenPay = async (): Promise<void> => {
  await sleep("14 days");
};
