const mark = '://'

/** Replaces user information and signed queries in a text's addresses by `gone`. */
export function scrubAddresses(text: string, gone: string): string {
  return text.replaceAll(/[^\s"'<>]+/g, (word) =>
    word.includes(mark) ? scrubUsers(scrubQuery(word, gone), gone) : word,
  )
}

/** A signed address gives access to its object, so its whole query is removed. */
function scrubQuery(word: string, gone: string): string {
  const query = findQuery(word)
  if (query === undefined || !/(?:signature|credential|token|sig|key|policy)=/i.test(word.slice(query))) return word
  return word.slice(0, query) + gone
}

/**
 * The index of the first query of an address in a word. A fragment has no query, but another address may follow in it.
 */
function findQuery(word: string): number | undefined {
  const ends = /[?#]/g
  for (let at = word.indexOf(mark); at >= 0; at = word.indexOf(mark, ends.lastIndex)) {
    ends.lastIndex = at
    const end = ends.exec(word)
    if (!end) return undefined
    if (end[0] === '?') return ends.lastIndex
  }
  return undefined
}

function scrubUsers(word: string, gone: string): string {
  const [scheme, ...rests] = word.split(mark)
  return [scheme, ...rests.map((rest) => scrubUser(rest, gone))].join(mark)
}

/** Removes the user information in front of the host: the part up to `@`, before the path. */
function scrubUser(rest: string, gone: string): string {
  const end = rest.search(/[/?#]/)
  const at = rest.lastIndexOf('@', end < 0 ? rest.length : end)
  return at < 0 ? rest : `${gone}${rest.slice(at)}`
}
