import { useState } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { callApi } from '../../data/client.ts'
import { sessionQuery } from '../../data/session.ts'
import { countOf } from '../../logic/numbers.ts'
import controls from '../../parts/controls.module.css'
import { ActionForm, Dialog, TextField } from '../../parts/dialog.tsx'

/** A button that copies a call into a data set. */
export function ToDataset({ project, id }: { project: string; id: string }) {
  const [isOpen, setOpen] = useState(false)
  const { data: session } = useQuery(sessionQuery)
  if (session?.role === 'read') return null
  return (
    <>
      <button type="button" className={controls.quiet} onClick={() => setOpen(true)}>
        To data set
      </button>
      {isOpen && <Question project={project} id={id} onClose={() => setOpen(false)} />}
    </>
  )
}

function Question({ project, id, onClose }: { project: string; id: string; onClose: () => void }) {
  const [dataset, setDataset] = useState('')
  const change = useMutation({
    mutationFn: () =>
      callApi('POST /v1/preview/projects/{project}/calls/to-dataset', {
        path: { project },
        body: { dataset, call_ids: [id] },
      }),
  })
  const title = 'Copy the call into a data set'
  if (change.data)
    return (
      <Dialog title={title} onClose={onClose}>
        <p role="status">
          {change.data.object_id} is at version {change.data.version_index}, with {countOf(change.data.rows, 'row')}.
        </p>
      </Dialog>
    )
  return (
    <ActionForm title={title} action={change} label="Copy it" onClose={onClose}>
      <TextField label="Data set" maxLength={128} value={dataset} onChange={setDataset} />
      <p>A new version has the rows of the latest one, and this call. A new name makes a data set.</p>
    </ActionForm>
  )
}
