/** For a text that is parsed at once. The parsers of Python and V8 go deeper, but recursive code after them may not. */
export const maxParsedDepth = 128

/**
 * For a value that is stored as text; deeper values become null. Recursive code of ours, of Postgres and of clients can
 * go this deep.
 */
export const maxKeptDepth = 500
