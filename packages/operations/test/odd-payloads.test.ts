import { PAYMENT_IN_DOUBT, PAYMENT_STAGE, WORKFLOW } from "@durable-payments/protocol";
import { defaultPayloadConverter, type Payload } from "@temporalio/common";
import { beforeAll, expect, it, vi } from "vitest";
import { auditRun } from "../src/audit/audit.ts";
import { listBatches } from "../src/batch/list.ts";
import { reportBatch } from "../src/batch/report.ts";
import type { Temporal } from "../src/connection/temporal.ts";
import { listRunsInDoubt } from "../src/decisions/in-doubt.ts";
import { listWaitingRuns } from "../src/decisions/human-tasks.ts";
import { findRunsToRetry } from "../src/retry/retry-many.ts";
import { listRuns } from "../src/runs/list.ts";
import { reportRun } from "../src/runs/report.ts";
import { readTimeline } from "../src/timeline/read-timeline.ts";
import { startServer } from "./support/server.ts";

const { connected, workflow } = await startServer();

const payload = (data: string, encoding = "json/plain"): Payload => ({
  metadata: { encoding: Buffer.from(encoding) },
  data: Buffer.from(data),
});

/** What whoever reaches Temporal can write where the project writes JSON. */
const PAYLOADS = {
  foreign: payload("?", "binary/encrypted"),
  malformed: payload("{,"),
  bare: { metadata: {}, data: Buffer.from("x") },
  null: payload("null"),
  number: payload("1e309"),
  text: payload('"\\ud800\\u001b[2J"'),
  list: payload("[]"),
  nested: payload("[".repeat(10_000) + "]".repeat(10_000)),
  proto: payload('{"__proto__":{"amount":"1"},"constructor":1,"payout":{"__proto__":1}}'),
  types: payload(
    '{"amount":{"a":1},"currency":["x"],"payee":5,"before":null,"payout":{"amount":{},"currency":[]},"beneficiary":{"bank_details":4},"card":7,"rows":"x","totals":[1],"chunks":{},"hashes":{},"overruled":[null,5,{"by":5}]}',
  ),
};

const forms = Object.keys(PAYLOADS);
const types = [WORKFLOW.payout, WORKFLOW.payoutBatch, "__proto__"];
const ids = types.flatMap((type) => forms.map((form) => `${type} ${form}`));

const all = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const list: Array<A> = [];
  for await (const item of items) list.push(item);
  return list;
};

beforeAll(() =>
  connected(async (temporal) => {
    await Promise.all(
      ids.map(async (workflowId) => {
        const [type = "", form = ""] = workflowId.split(" ");
        const given = new Map<string, Payload>(Object.entries(PAYLOADS)).get(form) ?? {};
        await temporal.client.workflowService.startWorkflowExecution({
          namespace: temporal.client.options.namespace,
          requestId: workflowId,
          workflowId,
          workflowType: { name: type },
          taskQueue: { name: "nobody" },
          input: { payloads: [given] },
          memo: {
            fields: Object.fromEntries(
              ["payment", "startedBy", "payouts", "file", "rows", "totals", "why"].map((name) => [
                name,
                given,
              ]),
            ),
          },
          userMetadata: { summary: given, details: given },
          searchAttributes: {
            indexedFields: {
              [PAYMENT_STAGE.name]: defaultPayloadConverter.toPayload("needsAttention"),
              [PAYMENT_IN_DOUBT.name]: defaultPayloadConverter.toPayload("createPayout"),
            },
          },
        });
      }),
    );
    await vi.waitFor(async () => expect((await workflow.count()).count).toBe(ids.length), {
      timeout: 120_000,
    });
  }),
);

const LISTS = {
  listRuns: (temporal) => all(listRuns(temporal, { standing: [] })),
  listInDoubt: (temporal) => all(listRuns(temporal, { standing: ["inDoubt"] })),
  listWaitingRuns,
  listRunsInDoubt,
  listBatches: (temporal) => all(listBatches(temporal)),
  findRunsToRetry: (temporal) => findRunsToRetry(temporal, { standing: ["failed"] }),
} satisfies Record<string, (temporal: Temporal) => Promise<unknown>>;

const REPORTS = { auditRun, readTimeline, reportRun, reportBatch };

/** What a read throws, of each that throws. */
const faults = () =>
  connected(async (temporal) => {
    const reads = [
      ...Object.entries(LISTS).map(([name, read]) => ({ name, read: () => read(temporal) })),
      ...Object.entries(REPORTS).flatMap(([name, read]) =>
        ids
          .filter((id) => name !== "reportBatch" || id.startsWith(WORKFLOW.payoutBatch))
          .map((id) => ({ name: `${name} ${id}`, read: () => read(temporal, id) })),
      ),
    ];
    const found = await Promise.all(
      reads.map(({ name, read }) =>
        read().then(
          () => [],
          (error: unknown) => [`${name}: ${String(error)}`],
        ),
      ),
    );
    return found.flat();
  });

it("what was written beside a run, or as its input, ends no list and no report", async () => {
  expect(await faults()).toEqual([]);
  const listed = await connected((temporal) => LISTS.listWaitingRuns(temporal));
  expect(listed.map(({ workflowId }) => workflowId).toSorted()).toEqual(ids.toSorted());
});

it("nor does it where the run has ended", async () => {
  await Promise.all(ids.map((id) => workflow.getHandle(id).terminate("x")));
  await vi.waitFor(
    async () => expect((await workflow.count('ExecutionStatus = "Running"')).count).toBe(0),
    { timeout: 120_000 },
  );
  expect(await faults()).toEqual([]);
});
