import {
  CannotStartServer,
  createPaymentsTest,
  startTestServer,
  type ServerKind,
} from "../src/index.ts";
import { afterEach, expect, it, vi } from "vitest";

const NOWHERE =
  "It was started from /nowhere/temporal-test-server (TEMPORAL_TEST_SERVER_PATH): let that name an executable of the server, or unset it.";

const hideServer = () => vi.stubEnv("TEMPORAL_TEST_SERVER_PATH", "/nowhere/temporal-test-server");

afterEach(() => vi.unstubAllEnvs());

it("says what to do where the server is not where it is looked for", async () => {
  hideServer();
  await expect(startTestServer()).rejects.toThrow(NOWHERE);
});

it("says so to every test that was to use a server which did not start again", async () => {
  const server = await startTestServer();
  try {
    hideServer();
    const why = `A test has left runs open, and a new server could not take the place of the one that has them. The time-skipping test server of Temporal cannot be started: `;
    for (const use of [server.renew, () => createPaymentsTest({ server }), server.renew]) {
      const failed = use();
      await expect(failed).rejects.toBeInstanceOf(CannotStartServer);
      await expect(failed).rejects.toThrow(why);
      await expect(failed).rejects.toThrow(NOWHERE);
    }
  } finally {
    await server.dispose();
  }
});

it("refuses a kind of server that there is not", async () => {
  await expect(startTestServer("real" as ServerKind)).rejects.toThrow(
    "There is no server real: give time-skipping or dev",
  );
});

it("refuses an option that there is not", async () => {
  const misspelt: object = { approveAbve: { USD: "1.00" } };
  await expect(createPaymentsTest(misspelt)).rejects.toThrow(
    "createPaymentsTest has no option approveAbve (is it approveAbove?).",
  );
});
