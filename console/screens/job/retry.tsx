import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { callApi } from '../../data/client.ts'
import type { Job } from '../../data/models.ts'
import { refetchOf } from '../../data/query-client.ts'
import { sessionQuery } from '../../data/session.ts'
import { isFinal } from '../../logic/jobs.ts'
import controls from '../../parts/controls.module.css'
import { ActionForm } from '../../parts/dialog.tsx'

/** Sends an ended job again, and goes to the new one. */
export function Retry({ job }: { job: Job }) {
  const [isAsking, setAsking] = useState(false)
  const { entity, project } = useParams({ from: '/inside/$entity/$project/jobs/$job' })
  const { data: session } = useQuery(sessionQuery)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const retry = useMutation({
    mutationFn: () =>
      callApi('POST /v1/preview/training-jobs/{training_job_id}/retry', {
        path: { training_job_id: job.id },
        body: {},
      }),
    onSuccess: async ({ id }) => {
      setAsking(false)
      await refetchOf(queries, '/training-jobs')
      await navigate({ to: '/$entity/$project/jobs/$job', params: { entity, project, job: id } })
    },
  })
  if (!isFinal(job.state) || session?.role === 'read') return null
  return (
    <>
      <button type="button" className={controls.button} onClick={() => setAsking(true)}>
        Retry job
      </button>
      {isAsking && (
        <ActionForm title="Retry this job?" action={retry} label="Retry the job" onClose={() => setAsking(false)}>
          <p>
            A new job trains on the same data with the same settings. It begins from the newest checkpoint of the model.
          </p>
        </ActionForm>
      )}
    </>
  )
}
