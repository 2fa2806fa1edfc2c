import { defaultPayloadConverter, type Payload } from "@temporalio/common";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { once } from "node:events";
import { connect, Server } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { encryptedDataConverter, openKeyring } from "../src/index.ts";
import { type CodecRequestEntry, startCodecServer } from "../src/server/codec-server.ts";
import { readPayloads, writePayloads } from "../src/server/payloads.ts";
import { authenticateByFile } from "../src/server/users.ts";
import { makeKeyringFolder } from "./support/keyring-folder.ts";

const VALUE = { amount: "250.00", currency: "EUR", iban: "DE89370400440532013000" };
const ORIGIN = "https://temporal.example.com";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Starts a server whose users have their role as their token, and a way to ask it. */
const makeServer = async () => {
  const { folder } = await makeKeyringFolder();
  const users = join(folder, "users.json");
  const roles = ["masked", "reader", "editor"];
  writeFileSync(
    users,
    JSON.stringify(roles.map((role) => ({ name: role, role, tokenSha256: sha256(role) }))),
  );
  const entries: Array<CodecRequestEntry> = [];
  const server = await startCodecServer({
    namespace: "default",
    dataConverter: encryptedDataConverter({ namespace: "default", keys: openKeyring(folder) }),
    origins: [ORIGIN],
    authenticate: await authenticateByFile(users),
    host: "127.0.0.1",
    port: 0,
    log: (entry) => entries.push(entry),
  });
  onTestFinished(() => server.close());
  const ask = async (
    path: string,
    payloads: ReadonlyArray<Payload>,
    headers: Readonly<Record<string, string>>,
  ) => {
    const body = writePayloads(payloads);
    const response = await fetch(`${server.url}${path}`, { method: "POST", body, headers });
    const answered: unknown = await response.json();
    return { status: response.status, payloads: readPayloads(answered) ?? [] };
  };
  const as = (user: string) => ({ authorization: `Bearer ${user}` });
  return { ask, as, entries, server };
};

const plain = [defaultPayloadConverter.toPayload(VALUE)];

const valueOf = ([payload]: ReadonlyArray<Payload>): unknown =>
  payload && defaultPayloadConverter.fromPayload(payload);

it("encodes for an editor, decodes for a reader, and masks for the masked role", async () => {
  const { as, ask, entries } = await makeServer();
  const encoded = await ask("/encode", plain, as("editor"));
  expect(encoded.status).toBe(200);
  expect(Buffer.from(encoded.payloads[0]?.data ?? []).toString("latin1")).not.toContain(VALUE.iban);

  const read = await ask("/default/decode", encoded.payloads, as("reader"));
  expect(valueOf(read.payloads)).toEqual(VALUE);
  const masked = await ask("/decode", encoded.payloads, as("masked"));
  expect(valueOf(masked.payloads)).toEqual({ ...VALUE, iban: "[redacted]" });

  expect(
    entries.map(({ keyIds, operation, role, user }) => [operation, user, role, keyIds]),
  ).toEqual([
    ["encode", "editor", "editor", ["k1"]],
    ["decode", "reader", "reader", ["k1"]],
    ["decode", "masked", "masked", ["k1"]],
  ]);
  expect(JSON.stringify(entries)).not.toContain(VALUE.iban);
});

it("closes, although a request never ends", async () => {
  const { server } = await makeServer();
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  socket.write("POST /decode HTTP/1.1\r\nhost: codec\r\ncontent-length: 100\r\n\r\n{");
  await once(socket, "data", { signal: AbortSignal.timeout(200) }).catch(() => undefined);
  await expect(server.close()).resolves.toBeUndefined();
});

it.each([
  ["a user that it does not know", "/decode", "somebody", {}, 401],
  ["encoding by a reader", "/encode", "reader", {}, 403],
  ["another namespace", "/other/decode", "reader", {}, 403],
  ["a page of another origin", "/decode", "reader", { origin: "https://evil.example" }, 403],
])("refuses %s", async (_, path, user, headers, status) => {
  const { as, ask, entries } = await makeServer();
  const answer = await ask(path, plain, { ...as(user), ...headers });
  expect([answer.status, answer.payloads]).toEqual([status, []]);
  expect(entries).toMatchObject([{ status, keyIds: [] }]);
});

it("continues after a connection that could not be accepted", async () => {
  const listen = vi.spyOn(Server.prototype, "listen");
  onTestFinished(() => listen.mockRestore());
  const { as, ask } = await makeServer();
  // As Node says that no more files can be opened.
  const [server] = listen.mock.contexts;
  if (server instanceof Server) server.emit("error", new Error("accept EMFILE"));
  expect((await ask("/decode", plain, as("reader"))).status).toBe(200);
});
