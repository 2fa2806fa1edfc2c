import { expect, it } from "vitest";
import { startChild } from "../src/child.ts";

it("a child ends at once when the bench is ended, whatever it carries out", async () => {
  const controller = new AbortController();
  const context = { signal: controller.signal, defer: () => {} };
  const child = await startChild<object, undefined>(
    "../test/support/never-answers.ts",
    [],
    context,
  );
  const running = child.run({});
  controller.abort();
  await expect(running).rejects.toThrow("aborted");
  await child.stop();
});
