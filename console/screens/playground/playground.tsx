import { useCallback, useRef, useState, type FormEvent } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { Model } from '../../data/models.ts'
import { apiQuery } from '../../data/queries.ts'
import { joinMessages, joinModelName, maxPanes, writeChatBody, type Message } from '../../logic/playground.ts'
import { readChoice, writeList } from '../../logic/search.ts'
import { AsCommand } from '../../parts/command.tsx'
import { Segments } from '../../parts/controls.tsx'
import controls from '../../parts/controls.module.css'
import { Download } from '../../parts/download.tsx'
import { Page } from '../../parts/page.tsx'
import { ProjectLink } from '../../parts/project-link.tsx'
import { Answered, Empty } from '../../parts/state.tsx'
import { ContinuedTrajectory, useContinuedTrajectory } from './continued-trajectory.tsx'
import { Pane } from './pane.tsx'
import { Settings } from './settings.tsx'
import type { Question, Round } from './use-conversation.ts'
import { readSettings, route, useDraft } from './use-draft.ts'
import classes from './playground.module.css'

const overlays = ['none', 'log-probability'] as const

/** Up to four models answer the same prompt at once. */
export function PlaygroundScreen() {
  const { project } = useParams({ from: route })
  const search = useSearch({ from: route })
  const models = useQuery(apiQuery('GET /v1/preview/models', { query: { project, order: 'desc', limit: 1 } }))
  const names = useQuery(apiQuery('GET /v1/models'))
  const chosen = readPanes(search.m)
  const defaults = models.data && names.data && listDefaults(models.data.data[0], names.data.data[0]?.id)
  const refetch = () => Promise.all([models.refetch(), names.refetch()])
  if (chosen.length > 0) return <Playground panes={chosen} />
  return (
    <Answered result={{ data: defaults, error: models.error ?? names.error, refetch }}>
      {(panes) =>
        panes.length > 0 ? (
          <Playground panes={panes} />
        ) : (
          <Page title="Playground" trail={<ProjectLink />}>
            <Empty title="There is no model to talk to" command="npm run demo">
              A base model or a run has to be there first.
            </Empty>
          </Page>
        )
      }
    </Answered>
  )
}

/** The newest run beside what it was before training, else a base model. */
function listDefaults(newest: Model | undefined, other: string | undefined): string[] {
  if (!newest) return other === undefined ? [] : [other]
  const name = `${newest.entity}/${newest.project}/${newest.name}`
  return newest.latest_step === 0 ? [name] : [name, joinModelName(name, 'step0')]
}

/** One model may be in several panes. */
function readPanes(text: string | undefined): string[] {
  const names = text?.split(',').filter((name) => name !== '') ?? []
  return names.slice(0, maxPanes)
}

function Playground({ panes }: { panes: readonly string[] }) {
  const search = useSearch({ from: route })
  const navigate = useNavigate({ from: '/$entity/$project/playground' })
  const [draft, changeDraft] = useDraft()
  const beginning = useContinuedTrajectory()
  const { question, epoch, send, stop, clear } = useQuestion()
  const reports = useRef(new Map<string, readonly Round[]>())
  const keys = nameKeys(panes, epoch)
  const overlay = readChoice(search.overlay, overlays)
  const change = useCallback(
    (changes: Partial<typeof search>) => void navigate({ search: (all) => ({ ...all, ...changes }), replace: true }),
    [navigate],
  )
  const setPanes = (next: readonly string[]) => change({ m: writeList(next) })
  const settings = readSettings(draft)
  const base = beginning.messages
  const ask = (event?: FormEvent) => {
    event?.preventDefault()
    if (draft.prompt.trim() !== '' || base.length > 0) send({ prompt: draft.prompt, base, settings })
  }
  const requests = panes.map((model) => ({
    method: 'POST',
    address: '/v1/chat/completions',
    body: writeChatBody(model, writeFirst(base, draft.prompt, settings.system), settings),
  }))
  const rows = () => keys.flatMap((key) => (reports.current.get(key) ?? []).map(presentRow))
  return (
    <Page
      title="Playground"
      trail={<ProjectLink />}
      actions={
        <>
          <Download name="playground" rows={rows} />
          <AsCommand requests={requests} />
        </>
      }
    >
      <div className={classes.layout}>
        <form className={classes.form} onSubmit={ask}>
          <Settings draft={draft} onChange={changeDraft} hasSystem={base.some(({ role }) => role === 'system')} />
          {search.trajectory !== undefined && <ContinuedTrajectory beginning={beginning} />}
          <label className={classes.prompt}>
            Prompt
            <textarea
              className={controls.input}
              rows={4}
              data-filter
              placeholder={base.length > 0 ? 'Empty: the conversation above is answered' : 'Ask all models'}
              value={draft.prompt}
              onInput={(event) => changeDraft({ prompt: event.currentTarget.value })}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) ask()
              }}
            />
          </label>
          <div className={classes.buttons}>
            <button type="submit" className={controls.primary} title="Ctrl Enter">
              Send to {panes.length === 1 ? 'the model' : `${panes.length} models`}
            </button>
            <button type="button" className={controls.button} onClick={stop} disabled={!question}>
              Stop all
            </button>
            <button type="button" className={controls.quiet} onClick={clear}>
              Clear
            </button>
          </div>
        </form>
        <div className={classes.main}>
          <div className={classes.bar}>
            <h2>Answers</h2>
            <span>Colour tokens by</span>
            <Segments
              label="Overlay"
              choices={overlays}
              value={overlay}
              onChoose={(name) => change({ overlay: name === 'none' ? undefined : name })}
            />
            <button
              type="button"
              className={controls.button}
              disabled={panes.length >= maxPanes}
              onClick={() => setPanes([...panes, panes.at(-1)!])}
            >
              Add a model
            </button>
          </div>
          <div className={classes.panes}>
            {panes.map((model, index) => (
              <Pane
                key={keys[index]}
                model={model}
                label={`Pane ${index + 1}: ${model}`}
                question={question}
                isColoured={overlay !== 'none'}
                onModel={(name) => setPanes(panes.with(index, name))}
                onClose={panes.length === 1 ? undefined : () => setPanes(panes.toSpliced(index, 1))}
                report={(rounds) => reports.current.set(keys[index]!, rounds)}
              />
            ))}
          </div>
        </div>
      </div>
    </Page>
  )
}

/** What all panes are asked. Panes of another epoch begin anew. */
function useQuestion() {
  const [question, setQuestion] = useState<Question>()
  const [epoch, setEpoch] = useState(0)
  const controller = useRef<AbortController>(undefined)
  const stop = () => controller.current?.abort()
  return {
    question,
    epoch,
    stop,
    send: (asked: Omit<Question, 'signal'>) => {
      stop()
      controller.current = new AbortController()
      setQuestion({ ...asked, signal: controller.current.signal })
    },
    clear: () => {
      stop()
      setQuestion(undefined)
      setEpoch(epoch + 1)
    },
  }
}

/** Names for panes that stay when another one is closed. A model may be in several. */
function nameKeys(panes: readonly string[], epoch: number): string[] {
  return panes.map((model, index) => {
    const before = panes.slice(0, index).filter((other) => other === model).length
    return `${epoch} ${before} ${model}`
  })
}

function writeFirst(base: readonly Message[], prompt: string, system: string): Message[] {
  return joinMessages(system, prompt === '' ? base : [...base, { role: 'user', content: prompt }])
}

/** A round as its line in a file. */
function presentRow({ body, answer, startMs, firstMs, endMs, error, isStopped }: Round) {
  return {
    ...body,
    answer: answer.text,
    finish_reason: answer.finish ?? null,
    prompt_tokens: answer.usage?.prompt ?? null,
    completion_tokens: answer.usage?.completion ?? null,
    first_token_ms: firstMs === undefined ? null : Math.round(firstMs - startMs),
    duration_ms: endMs === undefined ? null : Math.round(endMs - startMs),
    logprobs: answer.logprobs,
    is_stopped: isStopped,
    error: error?.message ?? null,
  }
}
