/** A text that is JSON. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Marks JSON that `rawObject` writes as it is. */
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

/** The JSON text of an object with one member more at its end, where it counts. The rest of the text stays as it is. */
export function addMember(object: string, name: string, value: string): string {
  return `${startMember(object, name)}${value}}`
}

/** The same up to the member's value, which the caller writes and ends with a brace. */
export function startMember(object: string, name: string): string {
  const open = object.slice(0, object.lastIndexOf('}'))
  return `${open}${open.trimEnd().endsWith('{') ? '' : ','}${JSON.stringify(name)}:`
}
