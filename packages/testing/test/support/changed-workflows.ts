import { sleep } from "@temporalio/workflow";

/** Another workflow of the same name: it does something else first. */
export async function paySupplier(): Promise<void> {
  await sleep("1 day");
}
