import type { CallStatus } from '../logic/calls.ts'
import classes from './call-status.module.css'

const words: Record<CallStatus, string> = {
  success: '✓ ok',
  error: '✕ error',
  descendant_error: '✓ error below',
  running: '● running',
}

/** How a call ended: a sign, a colour and its word. */
export function CallStatusMark({ status }: { status: CallStatus }) {
  return (
    <span className={classes.status} data-status={status}>
      {words[status]}
    </span>
  )
}
