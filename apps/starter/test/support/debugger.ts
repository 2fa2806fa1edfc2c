import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll } from "vitest";

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
}

/** A debugger as an editor has one: it speaks the inspector's protocol to a process. */
export interface Debugger {
  readonly send: (method: string, params?: object) => Promise<unknown>;
  /** Awaits the first event of that name, from now on, which fits. */
  readonly event: <Params>(method: string, fits?: (params: Params) => boolean) => Promise<Params>;
  /** Lets the process go on alone. */
  readonly detach: () => void;
  /** Its exit code, when it has ended. */
  readonly exited: Promise<number | null>;
}

/** Starts a Node process that waits for a debugger, and attaches one. */
export const debugNode = async (args: ReadonlyArray<string>): Promise<Debugger> => {
  const child = spawn(process.execPath, ["--inspect-brk=127.0.0.1:0", ...args], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  afterAll(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit").then(() => child.exitCode);
  const url = await new Promise<string>((resolve) => {
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const [, found] = /listening on (ws:\S+)/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  const socket = new WebSocket(url);
  await once(socket, "open");
  const listeners = new Set<(message: Message) => void>();
  socket.addEventListener("message", ({ data }) => {
    // The protocol's messages are of this form.
    const message = JSON.parse(String(data)) as Message;
    for (const listener of listeners) listener(message);
  });
  const first = <A>(pick: (message: Message) => A | undefined): Promise<A> =>
    new Promise((resolve) => {
      const listener = (message: Message) => {
        const picked = pick(message);
        if (picked === undefined) return;
        listeners.delete(listener);
        resolve(picked);
      };
      listeners.add(listener);
    });
  let last = 0;
  return {
    send: async (method, params = {}) => {
      last += 1;
      const id = last;
      const answer = first((message) => (message.id === id ? message : undefined));
      socket.send(JSON.stringify({ id, method, params }));
      return (await answer).result;
    },
    event: <Params>(method: string, fits: (params: Params) => boolean = () => true) =>
      first((message) => {
        if (message.method !== method) return undefined;
        // Who asks for an event knows its form.
        const params = message.params as Params;
        return fits(params) ? params : undefined;
      }),
    detach: () => socket.close(),
    exited,
  };
};
