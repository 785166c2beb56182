/** Of a text that is parsed as a whole. Python's and V8's parsers go deeper; recursive code after them does not always. */
export const maxParsedDepth = 128

/**
 * Of a value that is kept as its text; deeper ones become null. Recursive code of ours, of Postgres and of clients goes so
 * deep, and not any depth.
 */
export const maxKeptDepth = 500
