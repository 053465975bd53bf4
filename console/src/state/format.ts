import { settings } from "./settings.svelte";
import { zone } from "./zone.svelte";

const locale = () => (settings.language === "zh" ? "zh-CN" : "en-GB");

export const number = (n: number, digits = 0): string =>
  n.toLocaleString(locale(), { maximumFractionDigits: digits, minimumFractionDigits: digits });

export const percent = (share: number, digits = 0): string =>
  share.toLocaleString(locale(), { style: "percent", maximumFractionDigits: digits });

export const dateTime = (at: string | Date): string =>
  new Date(at).toLocaleString(locale(), { dateStyle: "medium", timeStyle: "short", timeZone: zone.name });

export const date = (at: string | Date): string =>
  new Date(at).toLocaleDateString(locale(), { dateStyle: "medium", timeZone: zone.name });

/** entered is an instant as a field of the type datetime-local has it: "2026-01-31T22:30" in the shown zone. */
export const entered = (at: string | number): string =>
  new Date(at).toLocaleString("sv-SE", { timeZone: zone.name }).replace(" ", "T").slice(0, 16);

/** instant is the inverse of `entered`, as the API has it. A time that a change of clocks skips is an hour later. */
export function instant(field: string): string {
  const at = Date.parse(`${field}Z`);
  const ahead = (at: number) => Date.parse(`${entered(at)}Z`) - at; // of UTC
  return new Date(at - ahead(at - ahead(at))).toISOString();
}

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];

/** ago is the time from now, such as "3 days ago" or "in 2 hours". */
export function ago(at: string | Date): string {
  const seconds = (new Date(at).getTime() - Date.now()) / 1000;
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  return new Intl.RelativeTimeFormat(locale(), { numeric: "auto" }).format(Math.round(seconds / size), unit);
}

export function bytes(n: number): string {
  const names = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = n < 1 ? 0 : Math.min(Math.floor(Math.log2(n) / 10), names.length - 1);
  return `${number(n / 1024 ** power, power === 0 || n / 1024 ** power >= 100 ? 0 : 1)} ${names[power]}`;
}

/** duration takes milliseconds. */
export const duration = (ms: number): string =>
  ms < 1000 ? `${number(ms, ms < 10 ? 1 : 0)} ms` : `${number(ms / 1000, 1)} s`;
