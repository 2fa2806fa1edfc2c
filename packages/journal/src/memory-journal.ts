import type { Begun, Journal, KeyEcho, ListName, RecordedSend, Send } from "./journal.ts";
import { idOf } from "./made-ids.ts";
import { forbidding, isOvertakenBy, latestUnknown } from "./send-permission.ts";

/** Most writes that are remembered; the oldest are forgotten first. */
const MOST_WRITES = 100_000;

const nameOf = ({ step, workflowId }: Pick<Send, "step" | "workflowId">): string =>
  JSON.stringify([workflowId, step]);

/** Whether a send of another write has made what these ids name, and may not be named for both. */
const isTaken = (
  { operation, payee, ...write }: Send,
  ids: RecordedSend["ids"],
  other: RecordedSend,
): boolean => {
  const id = idOf({ ids, operation });
  return (
    id !== undefined &&
    nameOf(write) !== nameOf(other) &&
    other.operation === operation &&
    other.outcome === "carriedOut" &&
    idOf(other) === id &&
    (operation !== "createBeneficiary" || other.payee !== payee)
  );
};

/**
 * Make a journal that is lost with the process: it keeps two attempts in one process apart, and
 * knows nothing of other processes or of earlier ones.
 */
export const makeMemoryJournal = (): Journal => {
  const writes = new Map<string, Array<RecordedSend>>();
  const echoes = new Map<string, KeyEcho>();
  const lags = new Map<ListName, number>();
  const all = () => [...writes.values()].flat().toSorted((a, b) => a.begunAt - b.begunAt);

  const begin = async (send: Send): Promise<Begun> => {
    const name = nameOf(send);
    const sends = writes.get(name) ?? [];
    const latest = forbidding(send, sends);
    if (latest !== undefined) return { _tag: "AlreadySent", latest };
    const [oldest] = writes.keys();
    if (writes.size >= MOST_WRITES && oldest !== undefined) writes.delete(oldest);
    const { knownTo: _, ...kept } = send;
    writes.set(name, [...sends, { ...kept, begunAt: Date.now(), outcome: "begun", ids: {} }]);
    return {
      _tag: "Begun",
      send: {
        isLatest: async () => !isOvertakenBy(send, writes.get(name) ?? []),
        recordOutcome: async (outcome, ids = {}) => {
          const other =
            outcome === "carriedOut" ? all().find((made) => isTaken(send, ids, made)) : undefined;
          if (other !== undefined) return { workflowId: other.workflowId, step: other.step };
          const recordedOutcome = { outcome, ids, outcomeAt: Date.now() };
          writes.set(
            name,
            (writes.get(name) ?? []).map((recorded) =>
              recorded.number === send.number ? { ...recorded, ...recordedOutcome } : recorded,
            ),
          );
          return undefined;
        },
      },
    };
  };

  return {
    begin,
    noteFound: async ({ ids, operation, step, workflowId }) => {
      const name = nameOf({ step, workflowId });
      const id = idOf({ ids, operation });
      const other = all().find(
        (send) =>
          nameOf(send) !== name &&
          send.operation === operation &&
          send.outcome === "carriedOut" &&
          id !== undefined &&
          idOf(send) === id,
      );
      if (other !== undefined) return { workflowId: other.workflowId, step: other.step };
      const latest = latestUnknown(writes.get(name) ?? []);
      const found = { outcome: "carriedOut", ids, outcomeAt: Date.now() } as const;
      writes.set(
        name,
        (writes.get(name) ?? []).map((send) => (send === latest ? { ...send, ...found } : send)),
      );
      return undefined;
    },
    noteUndone: async ({ id, operation, workflowId }) => {
      for (const [name, sends] of writes) {
        const isUndone = (send: RecordedSend) =>
          send.workflowId === workflowId &&
          send.operation === operation &&
          send.outcome === "carriedOut" &&
          idOf(send) === id;
        if (!sends.some(isUndone)) continue;
        writes.set(
          name,
          sends.map((send) => (isUndone(send) ? { ...send, outcome: "undone" } : send)),
        );
      }
    },
    find: async ({ step, workflowId }) =>
      all().filter((send) => send.workflowId === workflowId && (step ?? send.step) === send.step),
    since: async function* (since) {
      yield* all().filter(({ begunAt }) => begunAt >= since);
    },
    madeSince: async (operation, since) =>
      all().flatMap((send) => {
        const id = idOf(send);
        const isMade = send.operation === operation && send.outcome === "carriedOut";
        return isMade && id !== undefined && (send.outcomeAt ?? 0) >= since
          ? [{ id, answeredAt: send.outcomeAt ?? 0 }]
          : [];
      }),
    sendsTo: async (payee, since) =>
      all().filter((send) => send.payee === payee && send.begunAt >= since),
    paidAmong: async (payees) => {
      const sends = all();
      const paid = new Set(
        sends.flatMap(({ operation, outcome, payee }) =>
          operation === "createPayout" && outcome === "carriedOut" && payee !== undefined
            ? [payee]
            : [],
        ),
      );
      const created = sends.filter(({ operation }) => operation === "createBeneficiary");
      return new Set(
        payees.filter(
          (payee) =>
            paid.has(payee) ||
            created.some((send) => send.payee === payee && paid.has(idOf(send) ?? "")),
        ),
      );
    },
    isOfProcess: true,
    noteKeyEcho: async (operation, echo) => {
      const known = echoes.get(operation) ?? { same: 0, other: 0, none: 0 };
      echoes.set(operation, { ...known, [echo]: known[echo] + 1 });
    },
    keyEcho: async (operation) => echoes.get(operation) ?? { same: 0, other: 0, none: 0 },
    noteListLag: async (list, lagMs) => {
      lags.set(list, Math.max(lagMs, lags.get(list) ?? 0));
    },
    listLag: async (list) => lags.get(list) ?? 0,
    close: async () => undefined,
  };
};
