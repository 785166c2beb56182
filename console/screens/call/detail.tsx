import { useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { wholeCallQuery } from '../../data/calls.ts'
import { downloadAnswer } from '../../data/download.ts'
import { readCallTurns } from '../../logic/call-chat.ts'
import { costOf, latencyOf, listUsage, nameOp, readRef, statusOf, tokensOf, type Call } from '../../logic/calls.ts'
import { revealHidden } from '../../logic/chat.ts'
import { formatCount, formatMoney } from '../../logic/numbers.ts'
import type { WholeCall } from '../../logic/preview.ts'
import { readChoice } from '../../logic/search.ts'
import { formatDuration, formatTime } from '../../logic/time.ts'
import { readRunChat } from '../../logic/trajectory-calls.ts'
import { CallStatusMark } from '../../parts/call-status.tsx'
import { Segments } from '../../parts/controls.tsx'
import controls from '../../parts/controls.module.css'
import { Conversation } from '../../parts/conversation.tsx'
import { Json } from '../../parts/json.tsx'
import { Facts, Section } from '../../parts/page.tsx'
import { Answered } from '../../parts/state.tsx'
import { FeedbackList } from './feedback.tsx'
import { ChatTrajectories } from './chat-trajectories.tsx'
import classes from './call.module.css'

interface DetailProps {
  projectId: string
  id: string
  endedAt: string | null | undefined
  tab: string | undefined
  onTab: (tab: string) => void
}

/** What a call was given and what it answered. It is read when the call is selected. */
export function Detail({ projectId, id, endedAt, tab, onTab }: DetailProps) {
  const whole = useQuery(wholeCallQuery(projectId, id, endedAt))
  return (
    <section className={classes.detail} aria-label="Call">
      <Answered result={whole} rows={10}>
        {(shown) => <Shown projectId={projectId} whole={shown} tab={tab} onTab={onTab} />}
      </Answered>
    </section>
  )
}

const data = 'inputs and output'
type Tab = 'chat' | 'exception' | typeof data | 'usage' | 'attributes' | 'feedback' | 'trajectories'

interface ShownProps extends Pick<DetailProps, 'projectId' | 'tab' | 'onTab'> {
  whole: WholeCall
}

function Shown({ projectId, whole: { call, isCut }, tab, onTab }: ShownProps) {
  const turns = useMemo(() => readCallTurns(call), [call])
  const tabs: [Tab, ...Tab[]] = [data, 'usage', 'attributes', 'feedback']
  const chat = readRunChat(call, projectId.split('/')[0]!)
  if (chat) tabs.push('trajectories')
  if (call.exception) tabs.unshift('exception')
  if (turns.length > 0) tabs.unshift('chat')
  const shown = readChoice(tab, tabs)
  const download = () =>
    void downloadAnswer('/traces/call/read', { project_id: projectId, id: call.id }, `call-${call.id}.json`)
  return (
    <>
      <Head call={call} />
      <div className={classes.bar}>
        <Segments label="What is shown of the call" choices={tabs} value={shown} onChoose={onTab} />
        <button type="button" className={controls.quiet} title="Download the whole call" onClick={download}>
          ↓ JSON
        </button>
      </div>
      {isCut && (
        <p className={classes.none}>This call is large, and a part of it is shown. The download has all of it.</p>
      )}
      {shown === 'chat' && <Conversation turns={turns} />}
      {shown === 'exception' && <pre className={classes.exception}>{revealHidden(call.exception ?? '')}</pre>}
      {shown === data && <Payloads call={call} />}
      {shown === 'usage' && <Usage call={call} />}
      {shown === 'attributes' && <Json value={call.attributes ?? {}} renderText={renderRef} />}
      {shown === 'feedback' && <FeedbackList projectId={projectId} id={call.id} />}
      {shown === 'trajectories' && chat && <ChatTrajectories chat={chat} />}
    </>
  )
}

function Head({ call }: { call: Call }) {
  const [latency, tokens, cost] = [latencyOf(call), tokensOf(call), costOf(call)]
  return (
    <Facts
      facts={[
        ['Status', <CallStatusMark key="status" status={statusOf(call)} />],
        ['Op', revealHidden(nameOp(call.op_name))],
        ['Began', formatTime(call.started_at)],
        ...(latency === undefined ? [] : [['Took', formatDuration(latency)] as const]),
        ...(tokens === undefined ? [] : [['Tokens', formatCount(tokens)] as const]),
        ...(cost === undefined ? [] : [['Cost', formatMoney(cost)] as const]),
        ...(call.thread_id ? [['Thread', revealHidden(call.thread_id)] as const] : []),
      ]}
    />
  )
}

function Payloads({ call: { inputs, output, ended_at: endedAt } }: { call: Call }) {
  return (
    <>
      <Section title="Inputs">
        <Json value={inputs ?? {}} renderText={renderRef} />
      </Section>
      <Section title="Output">
        {endedAt ? (
          <Json value={output ?? null} renderText={renderRef} />
        ) : (
          <p className={classes.none}>It still runs.</p>
        )}
      </Section>
    </>
  )
}

/** A reference to a call leads to it. */
function renderRef(text: string) {
  const ref = readRef(text)
  if (ref?.kind !== 'call') return undefined
  const params = { entity: ref.entity, project: ref.project, call: ref.name }
  return (
    <Link to="/$entity/$project/weave/calls/$call" params={params} className={classes.ref}>
      {revealHidden(text)}
    </Link>
  )
}

function Usage({ call }: { call: Call }) {
  const usage = listUsage(call)
  if (usage.length === 0) return <p className={classes.none}>This call reports no tokens.</p>
  const costs = call.summary?.weave?.costs ?? {}
  return (
    <table className={classes.usage}>
      <thead>
        <tr>
          {['Model', 'Prompt tokens', 'Completion tokens', 'Cost'].map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {usage.map(({ model, prompt, completion }) => {
          const cost = costs[model] && costOf({ summary: { weave: { costs: { [model]: costs[model] } } } })
          return (
            <tr key={model}>
              <td>{revealHidden(model)}</td>
              <td>{formatCount(prompt)}</td>
              <td>{formatCount(completion)}</td>
              <td>{cost === undefined ? 'no price' : formatMoney(cost)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
