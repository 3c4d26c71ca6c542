// Rows from JSON.

/** An integer that a JavaScript number may not hold, or a text. */
const TEXT_OR_LONG = /"(?:[^"\\]|\\.)*"|(?<![\d.])-?\d{16,}(?![\d.eE])/g;
const LONG = /\d{16}/;
const MARK = "\u0000";

/**
 * Returns the objects of a JSON array. Integers that a number does not hold become a `BigInt`.
 * @param {string} json
 */
export function rowsOf(json) {
  if (!LONG.test(json)) return JSON.parse(json);
  const marked = json.replace(TEXT_OR_LONG, (token) =>
    token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `{"${"\\u0000"}":"${token}"}`,
  );
  return JSON.parse(marked, (_, value) => {
    const text = value?.[MARK];
    return typeof text === "string" && /^-?\d+$/.test(text) ? BigInt(text) : value;
  });
}
