import { useState } from 'react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { callApi } from '../data/client.ts'
import { apiQuery } from '../data/queries.ts'
import { refetchOf } from '../data/query-client.ts'
import { sessionQuery } from '../data/session.ts'
import controls from './controls.module.css'
import { ActionForm } from './dialog.tsx'

const texts = {
  pause: {
    button: 'Pause waiting jobs',
    title: 'Pause the jobs that wait?',
    label: 'Pause them',
    effect: 'No waiting job of the entity begins, in any of its projects. Running jobs go on, and new jobs wait.',
  },
  resume: {
    button: 'Resume waiting jobs',
    title: 'Resume the jobs that wait?',
    label: 'Resume them',
    effect: 'The waiting jobs of the entity begin as there is room, unless the administrator has paused them too.',
  },
} as const

type Change = keyof typeof texts

/** Pauses the jobs of the entity that wait, or resumes them, as admins of the entity may. Others see nothing. */
export function PauseJobs({ resumeOnly = false }: { resumeOnly?: boolean }) {
  const [asked, setAsked] = useState<Change>()
  const { data: session } = useQuery(sessionQuery)
  const { data: limits } = useQuery({ ...apiQuery('GET /v1/preview/limits'), enabled: session?.role === 'admin' })
  if (session?.role !== 'admin' || !limits) return null
  const change = limits.paused ? 'resume' : 'pause'
  return (
    <>
      {(change === 'resume' || !resumeOnly) && (
        <button type="button" className={controls.button} onClick={() => setAsked(change)}>
          {texts[change].button}
        </button>
      )}
      {asked && <Question change={asked} onClose={() => setAsked(undefined)} />}
    </>
  )
}

function Question({ change, onClose }: { change: Change; onClose: () => void }) {
  const queries = useQueryClient()
  const { title, label, effect } = texts[change]
  const action = useMutation({
    mutationFn: () => callApi('PUT /v1/preview/limits/paused', { body: { paused: change === 'pause' } }),
    onSuccess: async () => {
      onClose()
      await Promise.all([refetchOf(queries, '/limits'), refetchOf(queries, '/training-jobs')])
    },
  })
  return (
    <ActionForm title={title} action={action} label={label} onClose={onClose}>
      <p>{effect}</p>
    </ActionForm>
  )
}
