import { useState } from 'react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { callApi, type Answer } from '../../data/client.ts'
import type { Item } from '../../data/queries.ts'
import { toggle } from '../../logic/search.ts'
import { Command } from '../../parts/command.tsx'
import controls from '../../parts/controls.module.css'
import { Dialog } from '../../parts/dialog.tsx'
import classes from './settings.module.css'

type EventType = Item<'GET /v1/preview/webhooks'>['events'][number]

const eventTypes = [
  'training_job.succeeded',
  'training_job.failed',
  'training_job.cancelled',
  'training_job.running',
  'model.created',
  'model.deleted',
] as const

/** Makes a webhook and shows the secret of its signatures once. */
export function NewWebhook({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [url, setUrl] = useState('')
  const [project, setProject] = useState('')
  const [events, setEvents] = useState<string[]>(eventTypes.slice(0, 3))
  const [made, setMade] = useState<Answer<'POST /v1/preview/webhooks'>>()
  const make = useMutation({
    mutationFn: () => {
      const body = { url, events: events as EventType[], project: project === '' ? null : project }
      return callApi('POST /v1/preview/webhooks', { body })
    },
    onSuccess: async (webhook) => {
      setMade(webhook)
      await queries.invalidateQueries({ queryKey: ['GET /v1/preview/webhooks'] })
    },
  })
  if (made) {
    return (
      <Dialog title="Copy the secret now" onClose={onClose}>
        <form method="dialog">
          <p>Each delivery is signed with it. It is shown only once.</p>
          <Command text={made.secret} />
          <button type="submit" className={controls.primary}>
            I have copied it
          </button>
        </form>
      </Dialog>
    )
  }
  return (
    <Dialog title="Create a webhook" onClose={onClose} error={make.error}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          make.mutate()
        }}
      >
        <label>
          Address
          <input
            className={controls.input}
            type="url"
            required
            placeholder="https://ci.example.com/hook"
            value={url}
            onInput={(event) => setUrl(event.currentTarget.value)}
          />
        </label>
        <label>
          Project
          <input
            className={controls.input}
            placeholder="all projects"
            value={project}
            onInput={(event) => setProject(event.currentTarget.value)}
          />
        </label>
        <fieldset className={classes.events}>
          <legend>Events</legend>
          {eventTypes.map((name) => (
            <label key={name}>
              <input type="checkbox" checked={events.includes(name)} onChange={() => setEvents(toggle(events, name))} />{' '}
              {name}
            </label>
          ))}
        </fieldset>
        <button type="submit" className={controls.primary} disabled={make.isPending || events.length === 0}>
          Create the webhook
        </button>
      </form>
    </Dialog>
  )
}
