/** A text that is valid JSON. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Marks JSON that `rawObject` writes unchanged. */
export function rawText(text: string): RawJson {
  return new RawJson(text)
}

/** Writes the JSON text of an object. Members can be JSON texts. Members without a value are left out. */
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

/** Joins JSON texts to the JSON text of a list. */
export function rawList(texts: readonly string[]): string {
  return `[${texts.join(',')}]`
}

/** Adds a member at the end of an object's JSON text, where it counts. The rest of the text stays unchanged. */
export function addMember(object: string, name: string, value: string): string {
  return `${startMember(object, name)}${value}}`
}

/** Returns the same text up to the member's value. The caller writes the value and a closing brace. */
export function startMember(object: string, name: string): string {
  const open = object.slice(0, object.lastIndexOf('}'))
  return `${open}${open.trimEnd().endsWith('{') ? '' : ','}${JSON.stringify(name)}:`
}
