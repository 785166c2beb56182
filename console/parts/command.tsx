import { useState } from 'react'
import { baseUrl } from '../data/base.ts'
import { writeCurl, writePython, type ShownRequest } from '../logic/command.ts'
import controls from './controls.module.css'
import classes from './command.module.css'

/** Text that a person copies: a command, a program or an id. */
export function Command({ text }: { text: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 1_500)
  }
  return (
    <div className={classes.command}>
      <pre tabIndex={0}>{text}</pre>
      <button type="button" className={controls.button} onClick={() => void copy()}>
        {copied ? 'Copied' : 'Copy'}
      </button>
    </div>
  )
}

/** A button that shows the requests of a screen, for a shell and for Python. */
export function AsCommand({ requests, kubectl }: { requests: readonly ShownRequest[]; kubectl?: string }) {
  if (requests.length === 0) return null
  return (
    <>
      <button type="button" className={controls.quiet} popoverTarget="as-command" title="Show as a command">
        <span aria-hidden="true">›_</span> API
      </button>
      <div id="as-command" popover="auto" className={classes.popover}>
        <h2>What this page shows, as commands</h2>
        <h3>Shell</h3>
        <Command text={requests.map((request) => writeCurl(baseUrl, request)).join('\n')} />
        <h3>Python</h3>
        <Command text={writePython(baseUrl, requests)} />
        {kubectl !== undefined && (
          <>
            <h3>Kubernetes</h3>
            <Command text={kubectl} />
          </>
        )}
      </div>
    </>
  )
}
