/** A text that is JSON already. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Marks JSON that goes into an answer as it is. */
export function rawText(text: string): RawJson {
  return new RawJson(text)
}

/** The JSON text of an object, some members of which are JSON texts. Members without a value are left out. */
export function rawObject(members: Record<string, unknown>): string {
  let text = ''
  for (const name in members) {
    const value = members[name]
    if (value === undefined) continue
    const written = value instanceof RawJson ? value.text : JSON.stringify(value)
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${written}`
  }
  return `{${text}}`
}

/** The JSON text of a list of JSON texts. */
export function rawList(texts: readonly string[]): string {
  return `[${texts.join(',')}]`
}
