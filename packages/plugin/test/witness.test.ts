import { openLedger } from "@durable-payments/ledger";
import { trackerId } from "@durable-payments/protocol";
import { type Client, defaultPayloadConverter } from "@temporalio/client";
import { WorkflowNotFoundError } from "@temporalio/common";
import { expect, it, onTestFinished } from "vitest";
import { compareLedger } from "../src/worker-ledger.ts";

/** A client that knows the last heartbeats of some trackers; visibility does not list the late ones. */
const clientOf = (
  heartbeats: Readonly<Record<string, object>>,
  late: ReadonlyArray<string> = [],
) => {
  const listed = Object.keys(heartbeats).filter((id) => !late.includes(id));
  const describe = async (workflowId: string) => {
    const details = heartbeats[workflowId];
    if (details === undefined) throw new WorkflowNotFoundError("none", workflowId, undefined);
    const payloads = [defaultPayloadConverter.toPayload(details)];
    return { raw: { pendingActivities: [{ heartbeatDetails: { payloads } }] } };
  };
  const executions = listed.map((workflowId) => ({ execution: { workflowId } }));
  const client = {
    options: {
      namespace: "default",
      loadedDataConverter: { payloadConverter: defaultPayloadConverter, payloadCodecs: [] },
    },
    workflowService: { listWorkflowExecutions: async () => ({ executions }) },
    workflow: { getHandle: (id: string) => ({ describe: () => describe(id) }) },
  };
  // Nothing else of it is asked for.
  return client as unknown as Client;
};

const own = { hash: "own", name: undefined };

it.each([
  ["of an account that it does not have", "other", []],
  ["of its own account, although visibility does not list it yet", "own", [trackerId("own")]],
] as const)(
  "a worker that starts compares the ledger with the tracker %s: one of all has seen the most",
  async (_, hash, late) => {
    const ledger = await openLedger("memory");
    onTestFinished(() => ledger.close());
    const mark = await ledger.mark();
    const heartbeat = (account: string, sequence: number) => ({
      account,
      readAt: 0,
      waiting: 0,
      mark: { ...mark, sequence },
    });
    const all = (ahead: number) => ({
      [trackerId("own")]: heartbeat("own", mark.sequence),
      [trackerId("other", "eu")]: heartbeat("other", mark.sequence),
      [trackerId(hash, hash === "other" ? "eu" : undefined)]: heartbeat(
        hash,
        mark.sequence + ahead,
      ),
    });
    await compareLedger(ledger, [own], "payments", clientOf(all(0), late), {});
    expect((await ledger.state()).stopped).toBeNull();
    await compareLedger(ledger, [own], "payments", clientOf(all(1), late), {});
    expect((await ledger.state()).stopped).toContain("had reached 1");
  },
);
