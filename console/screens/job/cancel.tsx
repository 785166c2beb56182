import { useState } from 'react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { callApi } from '../../data/client.ts'
import type { Job } from '../../data/models.ts'
import { refetchOf } from '../../data/query-client.ts'
import { sessionQuery } from '../../data/session.ts'
import { isFinal } from '../../logic/jobs.ts'
import controls from '../../parts/controls.module.css'
import { ActionForm } from '../../parts/dialog.tsx'

/** Ends a job that is not trained yet. */
export function Cancel({ job }: { job: Job }) {
  const [isAsking, setAsking] = useState(false)
  const { data: session } = useQuery(sessionQuery)
  const queries = useQueryClient()
  const cancel = useMutation({
    mutationFn: () =>
      callApi('POST /v1/preview/training-jobs/{training_job_id}/cancel', {
        path: { training_job_id: job.id },
        body: {},
      }),
    onSuccess: async () => {
      setAsking(false)
      await refetchOf(queries, '/training-jobs')
    },
  })
  if (isFinal(job.state) || job.state === 'Publishing' || session?.role === 'read') return null
  return (
    <>
      <button type="button" className={controls.danger} onClick={() => setAsking(true)}>
        Cancel job
      </button>
      {isAsking && (
        <ActionForm
          title="Cancel this job?"
          action={cancel}
          label="Cancel the job"
          tone="danger"
          onClose={() => setAsking(false)}
        >
          <p>It ends at once and makes no checkpoint. What it has trained so far is lost.</p>
        </ActionForm>
      )}
    </>
  )
}
