import { visibleLines } from "@durable-payments/api-core/values";

const repeatEveryMs = 15_000;

/** Writes progress lines; on a terminal the line of a long wait counts its seconds in place. */
export interface Reporter {
  readonly line: (text: string) => void;
  /** Shows `text` with the seconds that have passed until `work` ends. */
  readonly during: <A>(text: string, work: Promise<A>) => Promise<A>;
}

/** Report on `stream`; the standard error by default, so that standard output stays for results. */
export const reporter = (stream: NodeJS.WriteStream = process.stderr): Reporter => ({
  line: (text) => void stream.write(`${visibleLines(text)}\n`),
  during: async (text, work) => {
    const started = Date.now();
    const seconds = () => `${Math.round((Date.now() - started) / 1000)} s`;
    const show = stream.isTTY
      ? () => stream.write(`\r${text} … ${seconds()}`)
      : () => stream.write(`${text} … ${seconds()}\n`);
    if (!stream.isTTY) stream.write(`${text} …\n`);
    const timer = setInterval(show, stream.isTTY ? 1000 : repeatEveryMs);
    try {
      return await work;
    } finally {
      clearInterval(timer);
      if (stream.isTTY) stream.write("\r\x1b[K");
    }
  },
});
