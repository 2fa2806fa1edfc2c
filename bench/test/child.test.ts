import { expect, it } from "vitest";
import { startChild } from "../src/child.ts";

it("a child ends at once when the bench is ended, whatever it carries out", async () => {
  const controller = new AbortController();
  const context = { signal: controller.signal, defer: () => {} };
  const run = await startChild<object, object>("../test/support/never-answers.ts", [], context);
  const running = run({});
  controller.abort();
  await expect(running).rejects.toThrow("exited");
});
