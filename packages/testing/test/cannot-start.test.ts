import { createPaymentsTest, startTestServer, type ServerKind } from "../src/index.ts";
import { afterEach, beforeEach, expect, it } from "vitest";

const { TEMPORAL_TEST_SERVER_PATH: path } = process.env;

beforeEach(() => {
  process.env["TEMPORAL_TEST_SERVER_PATH"] = "/nowhere/temporal-test-server";
});
afterEach(() => {
  process.env["TEMPORAL_TEST_SERVER_PATH"] = path;
});

it("says what to do where the server is not where it is looked for", async () => {
  await expect(startTestServer()).rejects.toThrow(
    "It was started from /nowhere/temporal-test-server (TEMPORAL_TEST_SERVER_PATH): let that name an executable of the server, or unset it.",
  );
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
