import controls from './controls.module.css'

/** Saves exactly the rows that are shown, one JSON text a line. */
export function Download({ name, rows }: { name: string; rows: readonly unknown[] }) {
  const save = () => {
    const lines = rows.map((row) => `${JSON.stringify(row)}\n`)
    const address = URL.createObjectURL(new Blob(lines, { type: 'application/jsonl' }))
    const link = document.createElement('a')
    link.href = address
    link.download = `${name}.jsonl`
    link.click()
    URL.revokeObjectURL(address)
  }
  return (
    <button type="button" className={controls.quiet} onClick={save} title="Download what is shown">
      ↓ JSONL
    </button>
  )
}
