import { useState } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { Answer } from '../data/client.ts'
import { sessionQuery } from '../data/session.ts'
import { countOf } from '../logic/numbers.ts'
import controls from './controls.module.css'
import { ActionForm, Dialog, TextField } from './dialog.tsx'

interface ToDatasetProps {
  /** What is copied. */
  what: 'call' | 'trajectory'
  copy: (dataset: string) => Promise<Answer<'POST /v1/preview/projects/{project}/calls/to-dataset'>>
}

/** A button that copies what is shown into a data set. */
export function ToDataset(props: ToDatasetProps) {
  const [isOpen, setOpen] = useState(false)
  const { data: session } = useQuery(sessionQuery)
  if (session?.role === 'read') return null
  return (
    <>
      <button type="button" className={controls.quiet} onClick={() => setOpen(true)}>
        To data set
      </button>
      {isOpen && <Question {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

function Question({ what, copy, onClose }: ToDatasetProps & { onClose: () => void }) {
  const [dataset, setDataset] = useState('')
  const change = useMutation({ mutationFn: () => copy(dataset) })
  const title = `Copy the ${what} into a data set`
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
      <p>A new version has the rows of the latest one, and this {what}. A new name makes a data set.</p>
    </ActionForm>
  )
}
