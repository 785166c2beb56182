import { useMutation } from '@tanstack/react-query'
import { basePath } from '../data/base.ts'
import { downloadAnswer } from '../data/download.ts'
import controls from './controls.module.css'

interface DownloadProps {
  name: string
  /** The rows, or what finds them when the button is pressed. */
  rows: readonly unknown[] | (() => readonly unknown[])
}

/** Saves exactly the rows that are shown, one JSON text a line. */
export function Download({ name, rows }: DownloadProps) {
  const save = () => {
    const shown = typeof rows === 'function' ? rows() : rows
    const lines = shown.map((row) => `${JSON.stringify(row)}\n`)
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

/** Saves an answer of the API as it is. */
export function DownloadAnswer({ name, address }: { name: string; address: string }) {
  return (
    <a className={controls.quiet} href={basePath + address} download={`${name}.json`} title="Download what is shown">
      ↓ JSON
    </a>
  )
}

/** Saves what a request answers with, one JSON text a line: all rows of a table of which the page has some. */
export function DownloadLines({ name, address, body }: { name: string; address: string; body: unknown }) {
  const saving = useMutation({ mutationFn: () => downloadAnswer(address, body, `${name}.jsonl`) })
  return (
    <>
      {saving.error && <span role="alert">{saving.error.message}</span>}
      <button
        type="button"
        className={controls.quiet}
        onClick={() => saving.mutate()}
        disabled={saving.isPending}
        title="Download what is shown"
      >
        ↓ JSONL
      </button>
    </>
  )
}
