import {
  type Begun,
  type FoundSend,
  type Journal,
  JournalUnavailable,
  type KeyEcho,
  type ListName,
  makeMemoryJournal,
  type MadeBySend,
  type RecordedSend,
  type Send,
  type SendOutcome,
  type WriteName,
} from "@durable-payments/journal";
import { type Chain, Chains, entriesOf } from "./run-history.ts";
import { setTime } from "./virtual-time.ts";

/** A call of the journal. `name` is that of a send that has begun. */
export type JournalCall =
  | { readonly method: "begin"; readonly send: Send }
  | { readonly method: "isLatest"; readonly name: string }
  | {
      readonly method: "recordOutcome";
      readonly name: string;
      readonly outcome: Exclude<SendOutcome, "begun" | "undone">;
      readonly ids: Readonly<Record<string, string>>;
    }
  | { readonly method: "noteFound"; readonly found: FoundSend }
  | { readonly method: "noteUndone"; readonly made: MadeBySend }
  | { readonly method: "find"; readonly name: Pick<WriteName, "workflowId"> & Partial<WriteName> }
  | { readonly method: "since"; readonly since: number }
  | { readonly method: "madeSince"; readonly operation: string; readonly since: number }
  | { readonly method: "sendsTo"; readonly payee: string; readonly since: number }
  | { readonly method: "paidAmong"; readonly payees: ReadonlyArray<string> }
  | { readonly method: "noteKeyEcho"; readonly operation: string; readonly echo: keyof KeyEcho }
  | { readonly method: "keyEcho"; readonly operation: string }
  | { readonly method: "noteListLag"; readonly list: ListName; readonly lagMs: number }
  | { readonly method: "listLag"; readonly list: ListName };

const nameOf = ({ number, step, workflowId }: Send): string =>
  JSON.stringify([workflowId, step, number]);

/** What a call is to an activity when the journal cannot be reached, whether it was written or not. */
export const UNREACHABLE = "unreachable";

/** The journal as activities have it: the explorer answers each call. */
export const askingJournal = (answerTo: (call: JournalCall) => Promise<unknown>): Journal => {
  const ask = async (call: JournalCall): Promise<unknown> => {
    const answer = await answerTo(call);
    if (answer === UNREACHABLE) throw new JournalUnavailable("The journal cannot be reached.");
    return answer;
  };
  return journalOver(ask);
};

const journalOver = (ask: (call: JournalCall) => Promise<unknown>): Journal => ({
  begin: async (send) => {
    // The answer to "begin" is one without the methods of what has begun.
    const begun = (await ask({ method: "begin", send })) as Begun;
    if (begun._tag === "AlreadySent") return begun;
    const name = nameOf(send);
    return {
      _tag: "Begun",
      send: {
        isLatest: async () => (await ask({ method: "isLatest", name })) as boolean,
        recordOutcome: async (outcome, ids = {}) => {
          await ask({ method: "recordOutcome", name, outcome, ids });
        },
      },
    };
  },
  noteFound: async (found) => (await ask({ method: "noteFound", found })) as WriteName | undefined,
  noteUndone: async (made) => {
    await ask({ method: "noteUndone", made });
  },
  find: async (name) => (await ask({ method: "find", name })) as ReadonlyArray<RecordedSend>,
  since: async function* (since) {
    yield* (await ask({ method: "since", since })) as ReadonlyArray<RecordedSend>;
  },
  madeSince: async (operation, since) =>
    (await ask({ method: "madeSince", operation, since })) as Awaited<
      ReturnType<Journal["madeSince"]>
    >,
  sendsTo: async (payee, since) =>
    (await ask({ method: "sendsTo", payee, since })) as ReadonlyArray<RecordedSend>,
  paidAmong: async (payees) =>
    new Set((await ask({ method: "paidAmong", payees })) as ReadonlyArray<string>),
  isOfProcess: false,
  noteKeyEcho: async (operation, echo) => {
    await ask({ method: "noteKeyEcho", operation, echo });
  },
  keyEcho: async (operation) => (await ask({ method: "keyEcho", operation })) as KeyEcho,
  noteListLag: async (list, lagMs) => {
    await ask({ method: "noteListLag", list, lagMs });
  },
  listLag: async (list) => (await ask({ method: "listLag", list })) as number,
  close: async () => undefined,
});

/** The calls of the journal, and when they came. */
export type JournalLog = Chain<null, { readonly at: number; readonly call: JournalCall }>;

/** The real journal in memory, made anew from its calls, so that an earlier state can be continued. */
export class JournalStates {
  readonly #chains = new Chains<null, { readonly at: number; readonly call: JournalCall }>();
  readonly #answers = new Map<string, { readonly answer: unknown; readonly log: JournalLog }>();
  readonly #byContent = new Map<string, JournalLog>();

  /** A journal without calls. */
  get empty(): JournalLog {
    return this.#chains.root(null);
  }

  /** Call it; the log that it gives is the same for journals of the same content. */
  async call(
    log: JournalLog,
    call: JournalCall,
    at: number,
  ): Promise<{ readonly answer: unknown; readonly log: JournalLog }> {
    const cacheKey = `${log.id} ${at} ${JSON.stringify(call)}`;
    const known = this.#answers.get(cacheKey);
    if (known !== undefined) return known;
    const replay = new Replay();
    for (const earlier of entriesOf(log)) await replay.call(earlier.call, earlier.at);
    const answer = await replay.call(call, at);
    const content = await replay.content();
    const same = this.#byContent.get(content) ?? this.#chains.add(log, { at, call });
    this.#byContent.set(content, same);
    const answered = { answer, log: same };
    this.#answers.set(cacheKey, answered);
    return answered;
  }
}

const all = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const found: Array<A> = [];
  for await (const item of items) found.push(item);
  return found;
};

class Replay {
  readonly #journal = makeMemoryJournal();
  readonly #begun = new Map<string, Extract<Begun, { readonly _tag: "Begun" }>["send"]>();

  async call(call: JournalCall, at: number): Promise<unknown> {
    setTime(at);
    const journal = this.#journal;
    switch (call.method) {
      case "begin": {
        const begun = await journal.begin(call.send);
        if (begun._tag === "AlreadySent") return begun;
        this.#begun.set(nameOf(call.send), begun.send);
        return { _tag: "Begun" };
      }
      case "isLatest":
        return this.#begun.get(call.name)?.isLatest();
      case "recordOutcome":
        return this.#begun.get(call.name)?.recordOutcome(call.outcome, call.ids);
      case "noteFound":
        return journal.noteFound(call.found);
      case "noteUndone":
        return journal.noteUndone(call.made);
      case "find":
        return journal.find(call.name);
      case "since":
        return all(journal.since(call.since));
      case "madeSince":
        return journal.madeSince(call.operation, call.since);
      case "sendsTo":
        return journal.sendsTo(call.payee, call.since);
      case "paidAmong":
        return [...(await journal.paidAmong(call.payees))];
      case "noteKeyEcho":
        return journal.noteKeyEcho(call.operation, call.echo);
      case "keyEcho":
        return journal.keyEcho(call.operation);
      case "noteListLag":
        return journal.noteListLag(call.list, call.lagMs);
      case "listLag":
        return journal.listLag(call.list);
    }
  }

  async content(): Promise<string> {
    const journal = this.#journal;
    const sends = await all(journal.since(0));
    return JSON.stringify([
      sends.map((send) => JSON.stringify(send)).toSorted(),
      await journal.keyEcho("createPayout"),
      await journal.listLag("listPayouts"),
    ]);
  }
}
