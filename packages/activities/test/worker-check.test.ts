import { JournalUnavailable, makeMemoryJournal } from "@durable-payments/journal";
import { afterEach, expect, it } from "vitest";
import { activitiesFor, failureOf, run } from "./support/activities.ts";
import { type RawService, type Said, startRawService, success } from "./support/raw-service.ts";

let service: RawService | undefined;
let close: (() => Promise<void>) | undefined;
afterEach(async () => {
  await close?.();
  await service?.stop();
});

const over = async (said: Said, journal = makeMemoryJournal()) => {
  service = await startRawService(() => said);
  const made = activitiesFor(service.url, {}, { journal });
  close = made.close;
  return made.activities.checkWorkerNeeds;
};

it("asks the service whether it accepts the sign-in, and sends nothing else", async () => {
  await run(await over({ body: '{"code":200,"message":"pong"}' }), undefined);
  expect(service?.received.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /ping"]);
});

it("goes on to be tried while the service refuses the sign-in", async () => {
  const refused: Said = { status: 401, body: '{"code":401,"message":"Unauthorized"}' };
  const failure = await failureOf(run(await over(refused), undefined));
  expect(failure).toMatchObject({ type: "NotAuthenticated", nonRetryable: false });
});

it("fails where the journal cannot be written", async () => {
  const gone = new JournalUnavailable("disk full");
  const journal = { ...makeMemoryJournal(), noteListLag: () => Promise.reject(gone) };
  await expect(run(await over(success(), journal), undefined)).rejects.toThrow("disk full");
});
