import { NotReplayable } from "../src/index.ts";
import { usePaymentsTest } from "../src/vitest.ts";
import { expect, it } from "vitest";
import { paySupplier } from "./support/workflows.ts";

const payments = usePaymentsTest({
  workflowsPath: import.meta.resolve("./support/workflows.ts"),
});

it("shows where the code of the next release does something else", async () => {
  await payments.run(paySupplier, ["12.50"], { workflowId: "paid" });
  const replayed = payments.replay(import.meta.resolve("./support/changed-workflows.ts"));
  await expect(replayed).rejects.toBeInstanceOf(NotReplayable);
  await expect(replayed).rejects.toThrow(
    /paid \(paySupplier\):\n {2}history: event \d+, MARKER_RECORDED readAccount\n {2}code: {4}nothing of that kind\n {2}where the code waits since:\n.*changed-workflows\.ts:5:/,
  );
});
