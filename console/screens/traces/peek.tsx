import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { peekQuery } from '../../data/calls.ts'
import { costOf, latencyOf, nameCall, statusOf, tokensOf, type Call } from '../../logic/calls.ts'
import { revealHidden } from '../../logic/chat.ts'
import { formatCompact, formatMoney } from '../../logic/numbers.ts'
import { formatDuration, formatTime } from '../../logic/time.ts'
import { CallStatusMark } from '../../parts/call-status.tsx'
import controls from '../../parts/controls.module.css'
import { Facts, Section } from '../../parts/page.tsx'
import { Answered, Empty } from '../../parts/state.tsx'
import type { TracesState } from './use-traces.ts'
import classes from './traces.module.css'

/** A call beside the table. */
export function CallPeek({ state, id, onClose }: { state: TracesState; id: string; onClose: () => void }) {
  const result = useQuery(peekQuery(state.projectId, id))
  return (
    <aside className={classes.peek} aria-label="Call" data-id={id}>
      <header>
        <Link
          to="/$entity/$project/weave/calls/$call"
          params={{ entity: state.entity, project: state.project, call: id }}
          className={controls.button}
        >
          Open
        </Link>
        <span className={classes.keys}>
          <kbd>j</kbd> <kbd>k</kbd> next, previous
        </span>
        <button type="button" className={controls.quiet} aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      <Answered result={result} rows={4}>
        {(call) => (call ? <Details call={call} /> : <Empty title="There is no such call" />)}
      </Answered>
    </aside>
  )
}

function Details({ call }: { call: Call }) {
  const [latency, tokens, cost] = [latencyOf(call), tokensOf(call), costOf(call)]
  return (
    <>
      <h2>{revealHidden(nameCall(call))}</h2>
      <Facts
        facts={[
          ['Status', <CallStatusMark key="status" status={statusOf(call)} />],
          ['Started', formatTime(call.started_at)],
          ...(latency === undefined ? [] : [['Latency', formatDuration(latency)] as const]),
          ...(tokens === undefined ? [] : [['Tokens', formatCompact(tokens)] as const]),
          ...(cost === undefined ? [] : [['Cost', formatMoney(cost)] as const]),
        ]}
      />
      {call.exception && <Payload title="Exception" value={call.exception} />}
      <Payload title="Inputs" value={call.inputs} />
      <Payload title="Output" value={call.output} />
      <Payload title="Attributes" value={call.attributes} />
    </>
  )
}

const maxShown = 20_000

function Payload({ title, value }: { title: string; value: unknown }) {
  if (value === undefined || value === null) return null
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return (
    <Section title={title}>
      <pre className={classes.payload} tabIndex={0} aria-label={title} role="region">
        {revealHidden(text.slice(0, maxShown))}
      </pre>
      {text.length > maxShown && <p>The first 20,000 characters. The page of the call has more.</p>}
    </Section>
  )
}
