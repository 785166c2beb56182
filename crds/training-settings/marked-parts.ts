/**
 * Replaces the lines between "BEGIN GENERATED name" and "END GENERATED name". The new lines are indented like the first
 * marker.
 *
 * @throws {Error} for a text without these two lines
 */
export function replaceMarked(text: string, name: string, generated: string): string {
  const pattern = new RegExp(`^( *)(.*BEGIN GENERATED ${name}\\b.*\\n)([^]*?)(^.*END GENERATED ${name}\\b)`, 'm')
  const found = pattern.exec(text)
  if (!found) throw new Error(`there are no lines "BEGIN GENERATED ${name}" and "END GENERATED ${name}"`)
  const [, indent = '', begin = '', , end = ''] = found
  const lines = generated.trimEnd().split('\n')
  const indented = lines.map((line) => `${line === '' ? '' : indent}${line}\n`).join('')
  return text.replace(pattern, () => `${indent}${begin}${indented}${end}`)
}
