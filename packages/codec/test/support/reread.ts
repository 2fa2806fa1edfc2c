import { onTestFinished, vi } from "vitest";

/** Has each keyring of this test read its folder at every use: a second passes between any two looks at the clock. */
export const rereadAtEveryUse = (): void => {
  let at = 0;
  const now = vi.spyOn(performance, "now").mockImplementation(() => (at += 1000));
  onTestFinished(() => now.mockRestore());
};
