import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { HealthListener } from "../src/health/health-listener.ts";

let listener: HealthListener;
beforeAll(async () => {
  listener = await HealthListener.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => listener.close());

const open = async () => {
  const socket = connect(Number(listener.address.split(":")[1]), "127.0.0.1");
  await once(socket, "connect");
  return socket;
};

const statusOf = async (request: string): Promise<string> => {
  const socket = await open();
  socket.write(request);
  const [status = ""] = (await text(socket)).split("\r\n");
  return status.replace(/^HTTP\/1.1 (\d+).*/, "$1");
};

it.each(["//", "http://", "/%", "/?", "*", "http://[", "//livez"])(
  "GET %s is not found, and ends no worker",
  async (path) => {
    expect(await statusOf(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`)).toBe(
      "404",
    );
  },
);

it.each([
  [
    "a POST",
    "POST /livez HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}",
    "405",
  ],
  ["a huge header", `GET /livez HTTP/1.1\r\nhost: a\r\nx: ${"x".repeat(17_000)}\r\n\r\n`, "431"],
  ["what is no HTTP", "\u0000\u0000\r\n\r\n", "400"],
  ["a query", "GET /livez?verbose HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", "200"],
])("answers %s", async (_name, request, status) => {
  expect(await statusOf(request)).toBe(status);
});

it(
  "answers others while one asks slowly, whom it does not wait for",
  { timeout: 15_000 },
  async () => {
    const slow = await open();
    slow.write("GET /livez HTTP/1.1\r\nx: ");
    expect((await fetch(`http://${listener.address}/livez`)).status).toBe(200);
    expect(await text(slow)).toContain("408");
  },
);
