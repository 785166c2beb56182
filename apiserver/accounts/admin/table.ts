/** Formats rows as aligned columns. The first line has the column names. */
export function formatTable(rows: Record<string, string>[]): string {
  const names = Object.keys(rows[0] ?? {})
  const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => row[name]!.length)))
  const line = (cells: string[]) =>
    `${cells
      .map((cell, index) => cell.padEnd(widths[index]!))
      .join('  ')
      .trimEnd()}\n`
  return [names, ...rows.map((row) => names.map((name) => row[name]!))].map(line).join('')
}
