import type { Temperament } from "./temperament.ts";

const MINUTE = 60_000;

const offsetText = (minutes: number): string => {
  const size = Math.abs(minutes);
  const two = (count: number) => String(count).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
};

/** An instant, milliseconds since 1970, as the temperament writes it. */
export const writeTime = (
  at: number,
  { times = "utc", zoneMinutes = 0 }: Temperament,
): string | number => {
  const local = new Date(at + zoneMinutes * MINUTE).toISOString();
  switch (times) {
    case "utc":
      return new Date(at).toISOString();
    case "offset":
      return local.slice(0, 19) + offsetText(zoneMinutes);
    case "local":
      return local.slice(0, 19);
    case "local-blank":
      return local.slice(0, 19).replace("T", " ");
    case "date":
      return local.slice(0, 10);
    case "seconds":
      return Math.floor(at / 1000);
    case "milliseconds":
      return at;
  }
};

const padded =
  (digits: number) =>
  (_: string, whole: string, fraction = "") =>
    `${whole}.${fraction.padEnd(digits, "0")}`;

const PARTS = /^(-?\d+)(?:\.(\d*?)0*)?$/;

/** A plain decimal amount as the temperament writes it; its value stays. */
export const writeAmount = (plain: string, form: Temperament["amounts"]): string | number => {
  switch (form) {
    case undefined:
    case "plain":
      return plain;
    case "grouped":
      return plain.replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ",");
    case "short":
      return plain.replace(PARTS, (_, whole: string, fraction = "") =>
        fraction === "" ? whole : `${whole}.${fraction}`,
      );
    case "one-digit":
      return plain.replace(PARTS, padded(1));
    case "four-digits":
      return plain.replace(PARTS, padded(4));
    case "number":
      return Number(plain);
  }
};

/** A text of a row as the temperament's lists write it. */
export const writeText = (given: string, form: Temperament["texts"]): string => {
  switch (form) {
    case undefined:
    case "as-given":
      return given;
    case "upper":
      return given.toUpperCase();
    case "trimmed":
      return given.trim();
    case "squeezed":
      return given.replace(/\s+/g, " ");
    case "nfkc":
      return given.normalize("NFKC");
    case "all":
      return given.normalize("NFKC").trim().replace(/\s+/g, " ").toUpperCase();
  }
};
