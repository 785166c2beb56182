const mark = '://'

/** A text whose addresses have `gone` in the place of their users and of the queries that are signed. */
export function scrubAddresses(text: string, gone: string): string {
  return text.replaceAll(/[^\s"'<>]+/g, (word) =>
    word.includes(mark) ? scrubUsers(scrubQuery(word, gone), gone) : word,
  )
}

/** Whoever signed an address may read what it names: nothing of its query stays. */
function scrubQuery(word: string, gone: string): string {
  const query = findQuery(word)
  if (query === undefined || !/(?:signature|credential|token|sig|key|policy)=/i.test(word.slice(query))) return word
  return word.slice(0, query) + gone
}

/** Where the query of a word's first address with one begins. A fragment has none, though an address may follow in it. */
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

/** What stands in front of the host: with `@`, before the path. */
function scrubUser(rest: string, gone: string): string {
  const end = rest.search(/[/?#]/)
  const at = rest.lastIndexOf('@', end < 0 ? rest.length : end)
  return at < 0 ? rest : `${gone}${rest.slice(at)}`
}
