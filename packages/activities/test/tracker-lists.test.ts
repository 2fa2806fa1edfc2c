import { trackerId } from "@durable-payments/protocol";
import { accountHash } from "@durable-payments/protocol/account";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { afterEach, beforeEach, expect, it } from "vitest";
import { activitiesFor, environment } from "./support/activities.ts";
import { clientOf } from "./support/waiting-runs.ts";

const PAYOUTS = 30;
const LARGEST_PAGE = 7;

/** More than a double carries: written as numbers, and never to be rounded. */
const idOf = (i: number): string => `9007199254740${1000 + i}`;

/** A payout that has ended as the list shows it, newest first; the number of its id as it stands. */
const row = (i: number): string => {
  const at = new Date(Date.now() - (i + 1) * 1_000).toISOString();
  const fields = { payout_status: "closed", create_time: at, update_time: at, complete_time: at };
  return `{"payout_id":${idOf(i)},${JSON.stringify(fields).slice(1)}`;
};

const success = (data: string): string => `{"code":200,"message":"Success","data":${data}}`;

let server: Server;
let url: string;
let totals: string;
beforeEach(async () => {
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    const first = (Number(searchParams.get("page_num")) - 1) * LARGEST_PAGE;
    const rows = Array.from({ length: PAYOUTS }, (_, i) => row(i));
    const page = rows.slice(first, first + LARGEST_PAGE).join();
    response.end(
      pathname.endsWith("/payouts")
        ? success(`{${totals}"item_list":[${page}]}`)
        : success('{"auth_token":"token","expires_at":"2999-01-01T00:00:00Z"}'),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" ? (address?.port ?? 0) : 0}`;
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

it.each([
  ["numbers", '"total_item":30,"total_page":5,'],
  ["numbers, of pages as they were asked for", '"total_item":30,"total_page":1,'],
  ["texts", '"total_item":"30","total_page":"5",'],
  ["texts, of pages as they were asked for", '"total_item":"30","total_page":"1",'],
  ["nothing", ""],
])(
  "the tracker signals all runs where pages are small, ids are large numbers and totals are %s",
  async (_, written) => {
    totals = written;
    const made = activitiesFor(url, {}, { tracker: { turnMs: 0 } });
    const awaited = Array.from({ length: PAYOUTS }, (_, i) => `payout:${idOf(i)}`);
    const runs = clientOf(awaited, { since: new Date(Date.now() - 60_000) });
    const workflowId = trackerId(accountHash({ clientId: "client-1", baseUrl: url }));
    const info = { workflowExecution: { workflowId, runId: "run-1" } };
    await environment(info, { client: runs.client }).run(made.activities.trackWaiting);
    expect(runs.sent.map(({ runId }) => runId)).toEqual(awaited.map((id, i) => `${i}:${id}`));
    await made.close();
  },
);
