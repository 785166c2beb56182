import { useState } from 'react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { callApi, type Answer } from '../../data/client.ts'
import type { Item } from '../../data/queries.ts'
import { toggle } from '../../logic/search.ts'
import { ActionForm, TextField } from '../../parts/dialog.tsx'
import { ShownOnce } from './shown-once.tsx'
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
  if (made)
    return (
      <ShownOnce
        title="Copy the secret now"
        secret={made.secret}
        note="Each delivery is signed with it. It is shown only once."
        onClose={onClose}
      />
    )
  return (
    <ActionForm
      title="Create a webhook"
      action={make}
      label="Create the webhook"
      isReady={events.length > 0}
      onClose={onClose}
    >
      <TextField label="Address" type="url" placeholder="https://ci.example.com/hook" value={url} onChange={setUrl} />
      <TextField label="Project" isOptional placeholder="all projects" value={project} onChange={setProject} />
      <fieldset className={classes.events}>
        <legend>Events</legend>
        {eventTypes.map((name) => (
          <label key={name}>
            <input type="checkbox" checked={events.includes(name)} onChange={() => setEvents(toggle(events, name))} />{' '}
            {name}
          </label>
        ))}
      </fieldset>
    </ActionForm>
  )
}
