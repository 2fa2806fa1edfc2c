import { limitsOf } from "../../src/index.ts";
import type { Decision, Testimony, Verdict, WriteRow } from "../../src/index.ts";
import type { Attempt, Stored, World } from "./world.ts";

const bit = (is: boolean): string => (is ? "1" : "0");

/** Times are never, now or long ago. */
const time = (at: number | null): string => (at === null ? "n" : at < 0 ? "p" : "0");

/** Names in the order in which they are met, so that only their being the same counts. */
class Names {
  readonly #known = new Map<number | string, number>();
  of(name: number | string | null | undefined): string {
    if (name === null || name === undefined) return "-";
    let known = this.#known.get(name);
    if (known === undefined) {
      known = this.#known.size;
      this.#known.set(name, known);
    }
    return String(known);
  }
}

const verdictKey = (verdict: Verdict): string =>
  verdict.is === "found"
    ? `f${verdict.id}${verdict.by}`
    : verdict.is === "unclear"
      ? `o${verdict.message}`
      : verdict.is === "absent"
        ? `n${bit(verdict.others !== undefined)}`
        : verdict.is;

/** Writes a world as short as it can be: two worlds with the same key have the same future. */
class Writer {
  readonly #world: World;
  readonly #questions = new Names();
  readonly #decisions = new Names();
  /** The oldest version that can ever be that of the row again, or be believed. */
  readonly #oldest: number;
  constructor(world: World) {
    this.#world = world;
    const { copy, left, row } = world;
    this.#oldest =
      left.losses > 0 || row === undefined
        ? 0
        : Math.min(row.knownFrom, copy?.row?.knownFrom ?? row.knownFrom);
  }

  #version(version: number): string {
    return version < this.#oldest ? "x" : String(version - this.#oldest);
  }

  #testimony(testimony: Testimony): string {
    if (testimony === undefined) return "-";
    return testimony.is === "none" ? "n" : this.#version(testimony.version);
  }

  #row(row: WriteRow | undefined): string {
    if (row === undefined) return "-";
    const { question } = row;
    return [
      row.state.slice(0, 3),
      this.#version(row.version),
      this.#version(row.knownFrom),
      bit(row.epoch === this.#world.epoch),
      row.generation,
      row.request.hash,
      bit(row.doubt > 0),
      row.runId,
      row.ownerId,
      row.rootId,
      bit(row.from === null),
      time(row.until),
      row.closedBy ?? "",
      row.absences,
      time(row.unprovableSince),
      row.madeId ?? "",
      question === null
        ? ""
        : `${question.kind.slice(0, 1)}${this.#questions.of(question.id)}${question.account ?? ""}${question.request ?? ""}${question.root?.firstRunId ?? ""}`,
    ].join(" ");
  }

  #stored({ approved, decisions, row }: Stored): string {
    const made = decisions.filter(({ kind }) => kind !== "start");
    const starts = decisions.length - made.length;
    if (made.length === 0) return `${this.#row(row)};${starts}`;
    const isVoid = ({ sequence }: Decision) => sequence <= (row?.decisionsAfter ?? 0);
    const { since } = limitsOf(this.#world.limits);
    const said = made
      .filter((one) => !isVoid(one))
      .map(
        ({ by, kind, question, sequence, value }) =>
          `${kind}${by}${this.#questions.of(question)}#${this.#decisions.of(sequence)}${bit(sequence > since)}${JSON.stringify(value)}`,
      );
    // Of those, only that they were.
    const old = new Set(made.filter(isVoid).map(({ by, kind }) => kind + by));
    return `${this.#row(row)};${starts};${said.join(",")};${[...old].toSorted().join(",")};${approved.toSorted().join(",")}`;
  }

  #phase({ phase }: Attempt): string {
    const { epoch, row } = this.#world;
    const isOwn = (token: string) =>
      row?.state === "sending" && row.token === token && row.epoch === epoch;
    const tokenKey = (token: string) => bit(isOwn(token)) + bit(token.startsWith(`${epoch}:`));
    switch (phase.is) {
      case "call":
        return "c";
      case "send":
        return `s${bit(phase.epoch === epoch)}`;
      case "look":
        return `l${tokenKey(phase.token)}${phase.generation}`;
      case "gone":
        return `g${tokenKey(phase.token)}${phase.generation}`;
      case "answer": {
        const { generation, outcome, token } = phase;
        return `a${tokenKey(token)}${generation}${outcome.is}${outcome.is === "made" ? outcome.id : ""}`;
      }
      case "read": {
        const { generation, request, version } = phase.row;
        const of = `r${bit(phase.isOld === true)}${this.#version(version)}.${generation}${request.hash}`;
        return phase.decision === undefined
          ? of
          : `${of}${phase.decision.kind}${this.#questions.of(phase.decision.question)}#${this.#decisions.of(phase.decision.sequence)}`;
      }
      case "evidence": {
        const { event } = phase;
        if (event.is === "evidence")
          return `e${this.#version(event.version)}${time(event.readFrom)}${verdictKey(event.verdict)}`;
        if (event.is !== "checked" && event.is !== "reread") return event.is;
        const { decision, version } = event;
        const of = `${this.#version(version)}?${this.#questions.of(decision.question)}#${this.#decisions.of(decision.sequence)}`;
        return event.is === "checked"
          ? `k${of}${event.id}${event.fault ?? ""}`
          : `d${of}${verdictKey(event.verdict)}`;
      }
    }
  }

  #attempt(one: Attempt): string {
    const { isLate, isLive, mode, owner, reread, request, root, run, testimony } = one;
    return `${run}${owner}${root}${bit(isLive)}${bit(isLate)}${this.#phase(one)} ${this.#testimony(testimony)} ${this.#decisions.of(reread)}${request}${mode}`;
  }

  write(): string {
    const {
      account,
      attempts,
      copy,
      end,
      epoch,
      flying,
      isPaused,
      isEndOfNow,
      isStopped,
      isTight,
      left,
      limits,
      made,
      run,
    } = this.#world;
    return [
      this.#stored(this.#world),
      copy === undefined ? "" : this.#stored(copy),
      attempts.map((one) => this.#attempt(one)).join("|"),
      `${run.no}${run.owner}${run.root}${run.status}${bit(run.attempt === 1)}${bit(run.isFirst)}${this.#testimony(run.testimony)} ${run.request}${run.mode}${bit(run.why === "Cancelled")}`,
      made
        .map((one) => `${one.generation}${one.request}${bit(one.isListed)}${bit(one.isGone)}`)
        .join(""),
      flying.map((one) => `${one.generation}${one.request}`).join(""),
      `${limits.at(-1)?.kind}${limits.at(-1)?.by}${JSON.stringify(limits.at(-1)?.value["approveAbove"])}`,
      bit(end !== undefined) +
        bit(isPaused) +
        bit(isStopped) +
        bit(isEndOfNow) +
        bit(isTight) +
        bit(epoch > 1) +
        account,
      Object.values(left).join(""),
    ].join("/");
  }
}

/** Returns the same text for worlds that have the same future. */
export const keyOf = (world: World): string => new Writer(world).write();
