// Text of files, and numbers.

/** Characters that would move or hide other text. */
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const MAX_LENGTH = 500;

/** Returns a text from a file with its hidden characters as codes. */
export function shown(text) {
  const short = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  return short.replace(HIDDEN, (character) => `\\u{${character.codePointAt(0).toString(16)}}`);
}

/** Returns a value of a row as text. */
export function cellText(value) {
  if (typeof value === "string") return shown(value);
  if (value === null || typeof value !== "object") return String(value);
  return shown(JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? String(inner) : inner)));
}

export function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${Number(number) === 1 ? "" : "s"}`;
}

export function bytes(number) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let value = number;
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** Creates an element with texts and elements inside. */
export function element(name, attributes = {}, ...children) {
  const created = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value);
  created.append(...children);
  return created;
}
