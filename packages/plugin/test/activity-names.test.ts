import { makePaymentsActivities } from "@durable-payments/activities";
import { PaymentsClient } from "@durable-payments/client/effect";
import { openLedger } from "@durable-payments/ledger";
import { ManagedRuntime } from "effect";
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

/** A worker does not start if an activity of its own has one of these names. */
it("the documentation lists the names of all activities that a worker has", async () => {
  const access = { baseUrl: "http://localhost:1", clientId: "c", apiKey: "k" };
  const runtime = ManagedRuntime.make(PaymentsClient.layer(access));
  const ledger = await openLedger("memory");
  const names = Object.keys(makePaymentsActivities(runtime, { ledger, taskQueue: "payments" }));
  await Promise.all([runtime.dispose(), ledger.close()]);
  const page = await readFile(new URL("../../../docs/write-workflows.md", import.meta.url), "utf8");
  const [, listed = ""] = /These names are taken:\n\n```text\n([^`]*)```/.exec(page) ?? [];
  expect(listed.match(/\w+/g)).toEqual(names.toSorted());
});
